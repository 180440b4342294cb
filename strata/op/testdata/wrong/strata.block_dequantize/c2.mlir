// strata.block_dequantize/c2.mlir:3:8: block_dequantize: a block of Q4_0 has 18 bytes, which do not divide rows of tensor<2x19xui8> (C2)
func.func @main(%a: tensor<2x19xui8>) {
  %0 = "strata.block_dequantize"(%a) <{format = "Q4_0"}> : (tensor<2x19xui8>) -> tensor<2x32xf32>
  return
}
