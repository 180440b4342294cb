// batch_norm_training/c5.mlir:3:10: stablehlo.batch_norm_training: result 1 is tensor<2xf32>, but tensor<3xf32> is inferred (C2, C5, C6, C7)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%a, %b, %c) <{epsilon = 1.000000e-01 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>)
  return
}
