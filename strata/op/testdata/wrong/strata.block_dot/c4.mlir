// strata.block_dot/c4.mlir:3:8: block_dot: multiplies x f32 [B..., rows..., in] with w [B..., out, bytes], got tensor<32xbf16> and tensor<4x18xui8> (C4)
func.func @main(%a: tensor<32xbf16>, %b: tensor<4x18xui8>) {
  %0 = "strata.block_dot"(%a, %b) <{format = "Q4_0"}> : (tensor<32xbf16>, tensor<4x18xui8>) -> tensor<4xf32>
  return
}
