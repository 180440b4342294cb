// strata.block_dot/c1.mlir:3:8: block_dot: packed blocks are bytes [..., bytes] of ui8, got tensor<4x18xi8> (C1)
func.func @main(%a: tensor<32xf32>, %b: tensor<4x18xi8>) {
  %0 = "strata.block_dot"(%a, %b) <{format = "Q4_0"}> : (tensor<32xf32>, tensor<4x18xi8>) -> tensor<4xf32>
  return
}
