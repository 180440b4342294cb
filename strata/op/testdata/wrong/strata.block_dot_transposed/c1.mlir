// strata.block_dot_transposed/c1.mlir:3:8: block_dot_transposed: packed blocks are bytes [..., bytes] of ui8, got tensor<4x18xi8> (C1)
func.func @main(%a: tensor<4xf32>, %b: tensor<4x18xi8>) {
  %0 = "strata.block_dot_transposed"(%a, %b) <{format = "Q4_0"}> : (tensor<4xf32>, tensor<4x18xi8>) -> tensor<32xf32>
  return
}
