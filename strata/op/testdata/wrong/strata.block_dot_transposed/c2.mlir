// strata.block_dot_transposed/c2.mlir:3:8: block_dot_transposed: a block of Q4_0 has 18 bytes, which do not divide rows of tensor<4x17xui8> (C2)
func.func @main(%a: tensor<4xf32>, %b: tensor<4x17xui8>) {
  %0 = "strata.block_dot_transposed"(%a, %b) <{format = "Q4_0"}> : (tensor<4xf32>, tensor<4x17xui8>) -> tensor<32xf32>
  return
}
