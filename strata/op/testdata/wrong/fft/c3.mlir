// fft/c3.mlir:3:8: fft: fft_length must have 1 to 3 entries, got 0 (C3)
func.func @main(%a: tensor<2x4xcomplex<f32>>) {
  %0 = "stablehlo.fft"(%a) <{fft_length = array<i64>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
  return
}
