// clamp/c3_quantized.mlir:3:8: clamp: tensor<!quant.uniform<i16:f32, 5.000000e-01>> and tensor<3x!quant.uniform<i8:f32, 5.000000e-01>> do not go together (C3)
func.func @main(%a: tensor<!quant.uniform<i16:f32, 5.000000e-01>>, %b: tensor<3x!quant.uniform<i8:f32, 5.000000e-01>>, %c: tensor<!quant.uniform<i8:f32, 5.000000e-01>>) {
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<!quant.uniform<i16:f32, 5.000000e-01>>, tensor<3x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<3x!quant.uniform<i8:f32, 5.000000e-01>>
  return
}
