// strata.block_dot/c6.mlir:3:8: block_dot: rows of tensor<4x18xui8> have 32 elements in Q4_0, those of x tensor<3x64xf32> have not (C6)
func.func @main(%a: tensor<3x64xf32>, %b: tensor<4x18xui8>) {
  %0 = "strata.block_dot"(%a, %b) <{format = "Q4_0"}> : (tensor<3x64xf32>, tensor<4x18xui8>) -> tensor<3x4xf32>
  return
}
