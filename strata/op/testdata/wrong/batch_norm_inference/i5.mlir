// batch_norm_inference/i5.mlir:3:8: batch_norm_inference: operands must be arrays, got !stablehlo.token (I5)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: !stablehlo.token) {
  %0 = "stablehlo.batch_norm_inference"(%a, %b, %c, %d, %e) <{epsilon = 1.000000e-01 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, !stablehlo.token) -> tensor<2x3xf32>
  return
}
