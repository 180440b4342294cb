// clamp/i2.mlir:3:8: clamp: operands must be arrays, got !stablehlo.token (I2)
func.func @main(%a: tensor<f32>, %b: !stablehlo.token, %c: tensor<f32>) {
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<f32>, !stablehlo.token, tensor<f32>) -> tensor<3xf32>
  return
}
