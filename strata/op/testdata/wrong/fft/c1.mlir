// fft/c1.mlir:3:8: fft: fft_length has 3 entries for tensor<2x4xcomplex<f32>> (C1)
func.func @main(%a: tensor<2x4xcomplex<f32>>) {
  %0 = "stablehlo.fft"(%a) <{fft_length = array<i64: 2, 2, 4>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
  return
}
