// batch_norm_inference/c3.mlir:3:8: batch_norm_inference: scale must have the size of dimension 1 of tensor<2x3xf32>, got tensor<2xf32> (C3)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<2xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: tensor<3xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%a, %b, %c, %d, %e) <{epsilon = 1.000000e-01 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}
