// tan/c1_quantized.mlir:3:8: tan: tensor<2x!quant.uniform<i8:f32, 5.000000e-01>> and tensor<2x!quant.uniform<i16:f32, 5.000000e-01>> do not go together (C1)
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) {
  %0 = "stablehlo.tan"(%a) : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x!quant.uniform<i16:f32, 5.000000e-01>>
  return
}
