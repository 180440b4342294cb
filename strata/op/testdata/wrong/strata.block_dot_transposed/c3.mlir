// strata.block_dot_transposed/c3.mlir:3:8: block_dot_transposed: there is no block format 'IQ2_S'; formats: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS, MXFP4 (C3)
func.func @main(%a: tensor<4xf32>, %b: tensor<4x18xui8>) {
  %0 = "strata.block_dot_transposed"(%a, %b) <{format = "IQ2_S"}> : (tensor<4xf32>, tensor<4x18xui8>) -> tensor<32xf32>
  return
}
