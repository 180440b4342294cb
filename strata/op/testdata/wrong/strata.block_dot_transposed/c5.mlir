// strata.block_dot_transposed/c5.mlir:3:8: block_dot_transposed: dimension 0 of tensor<3x4xf32> and tensor<2x4x18xui8>, a batch of both, differs (C5)
func.func @main(%a: tensor<3x4xf32>, %b: tensor<2x4x18xui8>) {
  %0 = "strata.block_dot_transposed"(%a, %b) <{format = "Q4_0"}> : (tensor<3x4xf32>, tensor<2x4x18xui8>) -> tensor<3x32xf32>
  return
}
