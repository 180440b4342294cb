// uniform_quantize/c1.mlir:3:8: uniform_quantize: tensor<2xf32> and tensor<3x!quant.uniform<i8:f32, 5.000000e-01>> have different shapes (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.uniform_quantize"(%a) : (tensor<2xf32>) -> tensor<3x!quant.uniform<i8:f32, 5.000000e-01>>
  return
}
