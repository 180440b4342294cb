// constant_like_what_does_not_fit.mlir:3:8: attribute 'value' of chlo.constant_like: '300' is no value of i8
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "chlo.constant_like"(%a) <{value = 300 : i8}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
