// batch_norm_grad/c3.mlir:3:10: batch_norm_grad: grad_output must have the operand's shape, got tensor<3x2xf32> and tensor<2x3xf32> (C3)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: tensor<3x2xf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%a, %b, %c, %d, %e) <{epsilon = 1.000000e-01 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
