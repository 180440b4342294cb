// quantised_where_nothing_is_said.mlir:3:8: stablehlo.fft: is not defined for tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  %0 = stablehlo.fft %a, type = RFFT, length = [2] : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xcomplex<f32>>
  return
}
