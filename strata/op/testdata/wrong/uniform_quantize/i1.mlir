// uniform_quantize/i1.mlir:3:8: uniform_quantize: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token) {
  %0 = "stablehlo.uniform_quantize"(%a) : (!stablehlo.token) -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
  return
}
