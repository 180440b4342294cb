// dynamic_reshape/c3.mlir:3:8: dynamic_reshape: tensor<2x3x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>> and tensor<3x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>> do not go together (C3)
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>, %b: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_reshape"(%a, %b) : (tensor<2x3x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>, tensor<2xi32>) -> tensor<3x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>>
  return
}
