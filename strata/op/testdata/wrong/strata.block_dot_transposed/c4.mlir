// strata.block_dot_transposed/c4.mlir:3:8: block_dot_transposed: multiplies g f32 [B..., rows..., out] with w [B..., out, bytes], got tensor<4xbf16> and tensor<4x18xui8> (C4)
func.func @main(%a: tensor<4xbf16>, %b: tensor<4x18xui8>) {
  %0 = "strata.block_dot_transposed"(%a, %b) <{format = "Q4_0"}> : (tensor<4xbf16>, tensor<4x18xui8>) -> tensor<32xf32>
  return
}
