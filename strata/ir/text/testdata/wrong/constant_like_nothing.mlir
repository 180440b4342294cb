// constant_like_nothing.mlir:3:8: chlo.constant_like requires attribute 'value'
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "chlo.constant_like"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
