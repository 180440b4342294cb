// round_nearest_even/c1_quantized.mlir:3:8: round_nearest_even: tensor<2x!quant.uniform<i8:f32, 5.000000e-01>> and tensor<2x!quant.uniform<i16:f32, 5.000000e-01>> do not go together (C1)
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) {
  %0 = "stablehlo.round_nearest_even"(%a) : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x!quant.uniform<i16:f32, 5.000000e-01>>
  return
}
