// clamp/i1.mlir:3:8: clamp: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<3xf32>, %c: tensor<f32>) {
  %0 = "stablehlo.clamp"(%a, %b, %c) : (!stablehlo.token, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
