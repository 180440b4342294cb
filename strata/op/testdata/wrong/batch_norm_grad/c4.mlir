// batch_norm_grad/c4.mlir:3:10: batch_norm_grad: mean must have the size of dimension 1 of tensor<2x3xf32>, got tensor<2xf32> (C4)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<2xf32>, %d: tensor<3xf32>, %e: tensor<2x3xf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%a, %b, %c, %d, %e) <{epsilon = 1.000000e-01 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
