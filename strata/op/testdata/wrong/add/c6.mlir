// add/c6.mlir:3:8: add: tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>> and tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>> do not go together (C6)
func.func @main(%a: tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>, %b: tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>) {
  %0 = "stablehlo.add"(%a, %b) : (tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>, tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>>
  return
}
