// transpose/c4.mlir:3:8: transpose: tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>> and tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>> do not go together (C4)
func.func @main(%a: tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) {
  %0 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>
  return
}
