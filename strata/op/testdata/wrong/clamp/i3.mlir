// clamp/i3.mlir:3:8: clamp: operands must be arrays, got !stablehlo.token (I3)
func.func @main(%a: tensor<f32>, %b: tensor<3xf32>, %c: !stablehlo.token) {
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<f32>, tensor<3xf32>, !stablehlo.token) -> tensor<3xf32>
  return
}
