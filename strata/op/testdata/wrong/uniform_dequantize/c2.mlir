// uniform_dequantize/c2.mlir:3:8: uniform_dequantize: the numbers of tensor<2x!quant.uniform<i8:f32, 5.000000e-01>> are no tensor<2xf64> (C2)
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) {
  %0 = "stablehlo.uniform_dequantize"(%a) : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2xf64>
  return
}
