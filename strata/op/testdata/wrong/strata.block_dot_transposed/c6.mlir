// strata.block_dot_transposed/c6.mlir:3:8: block_dot_transposed: the last dimension of tensor<3x5xf32> is not the number of rows of tensor<4x18xui8> (C6)
func.func @main(%a: tensor<3x5xf32>, %b: tensor<4x18xui8>) {
  %0 = "strata.block_dot_transposed"(%a, %b) <{format = "Q4_0"}> : (tensor<3x5xf32>, tensor<4x18xui8>) -> tensor<3x32xf32>
  return
}
