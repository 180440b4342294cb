// batch_norm_training/c1.mlir:3:10: batch_norm_training: feature_index 2 is out of range for tensor<2x3xf32> (C1)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%a, %b, %c) <{epsilon = 1.000000e-01 : f32, feature_index = 2 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
