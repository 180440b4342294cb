// uniform_dequantize/i1.mlir:3:8: uniform_dequantize: the operand must be quantised, got tensor<2xf32> (I1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.uniform_dequantize"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
