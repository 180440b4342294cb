// strata.block_dot_transposed/c4_rank.mlir:3:8: block_dot_transposed: multiplies g f32 [B..., rows..., out] with w [B..., out, bytes], got tensor<4xf32> and tensor<2x4x18xui8> (C4)
func.func @main(%a: tensor<4xf32>, %b: tensor<2x4x18xui8>) {
  %0 = "strata.block_dot_transposed"(%a, %b) <{format = "Q4_0"}> : (tensor<4xf32>, tensor<2x4x18xui8>) -> tensor<2x32xf32>
  return
}
