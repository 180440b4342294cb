// uniform_dequantize/c1.mlir:3:8: uniform_dequantize: tensor<2x!quant.uniform<i8:f32, 5.000000e-01>> and tensor<3xf32> have different shapes (C1)
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) {
  %0 = "stablehlo.uniform_dequantize"(%a) : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<3xf32>
  return
}
