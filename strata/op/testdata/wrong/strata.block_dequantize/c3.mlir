// strata.block_dequantize/c3.mlir:3:8: block_dequantize: there is no block format 'Q9_9'; formats: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS, MXFP4 (C3)
func.func @main(%a: tensor<18xui8>) {
  %0 = "strata.block_dequantize"(%a) <{format = "Q9_9"}> : (tensor<18xui8>) -> tensor<32xf32>
  return
}
