// reshape/c3.mlir:3:8: reshape: tensor<2x3x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>> and tensor<3x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>> do not go together (C3)
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) {
  %0 = "stablehlo.reshape"(%a) : (tensor<2x3x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>>
  return
}
