// constant_like_a_string.mlir:3:8: attribute 'value' of chlo.constant_like is "x", which is no number
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "chlo.constant_like"(%a) <{value = "x"}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
