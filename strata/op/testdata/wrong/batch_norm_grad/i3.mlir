// batch_norm_grad/i3.mlir:3:10: batch_norm_grad: operands must be arrays, got !stablehlo.token (I3)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: !stablehlo.token, %d: tensor<3xf32>, %e: tensor<2x3xf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%a, %b, %c, %d, %e) <{epsilon = 1.000000e-01 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, !stablehlo.token, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
