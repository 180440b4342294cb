// batch_norm_inference/c2.mlir:3:8: batch_norm_inference: scale must have the operand's dtype, got tensor<3xf64> and tensor<2x3xf32> (C2)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf64>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: tensor<3xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%a, %b, %c, %d, %e) <{epsilon = 1.000000e-01 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}
