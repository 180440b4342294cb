// strata.block_dequantize/c1.mlir:3:8: block_dequantize: packed blocks are bytes [..., bytes] of ui8, got tensor<18xi8> (C1)
func.func @main(%a: tensor<18xi8>) {
  %0 = "strata.block_dequantize"(%a) <{format = "Q4_0"}> : (tensor<18xi8>) -> tensor<32xf32>
  return
}
