// sqrt/i1_axis.mlir:3:8: sqrt: tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>> is quantised along an axis, which is not admitted (I1)
func.func @main(%a: tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) {
  %0 = "stablehlo.sqrt"(%a) : (tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) -> tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>
  return
}
