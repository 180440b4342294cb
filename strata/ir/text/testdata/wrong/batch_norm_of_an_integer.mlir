// batch_norm_of_an_integer.mlir:3:8: attribute 'epsilon' of stablehlo.batch_norm_inference is 1 : i32, which is no f32
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.batch_norm_inference"(%a, %a, %a, %a, %a) <{epsilon = 1 : i32, feature_index = 0 : i64}> : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
