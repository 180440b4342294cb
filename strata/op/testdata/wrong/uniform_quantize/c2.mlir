// uniform_quantize/c2.mlir:3:8: uniform_quantize: tensor<2xf32> holds no numbers of type bf16 (C2)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.uniform_quantize"(%a) : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:bf16, 5.000000e-01>>
  return
}
