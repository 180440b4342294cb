// clamp/c4.mlir:3:8: stablehlo.clamp: result 0 is tensor<4xf32>, but tensor<3xf32> is inferred (C4)
func.func @main(%a: tensor<f32>, %b: tensor<3xf32>, %c: tensor<f32>) {
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
