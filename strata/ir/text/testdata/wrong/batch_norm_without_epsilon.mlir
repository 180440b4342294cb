// batch_norm_without_epsilon.mlir:3:8: stablehlo.batch_norm_inference requires attribute 'epsilon'
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.batch_norm_inference"(%a, %a, %a, %a, %a) <{feature_index = 0 : i64}> : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
