// fft/i3.mlir:3:8: stablehlo.fft requires attribute 'fft_length'
func.func @main(%a: tensor<2x4xcomplex<f32>>) {
  %0 = "stablehlo.fft"(%a) <{fft_type = #stablehlo<fft_type FFT>}> : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
  return
}
