// strata.block_dot/c4_rank.mlir:3:8: block_dot: multiplies x f32 [B..., rows..., in] with w [B..., out, bytes], got tensor<32xf32> and tensor<2x4x18xui8> (C4)
func.func @main(%a: tensor<32xf32>, %b: tensor<2x4x18xui8>) {
  %0 = "strata.block_dot"(%a, %b) <{format = "Q4_0"}> : (tensor<32xf32>, tensor<2x4x18xui8>) -> tensor<2x4xf32>
  return
}
