// fft/c2.mlir:3:8: fft: FFT takes complex numbers, got tensor<2x4xf32> (C2)
func.func @main(%a: tensor<2x4xf32>) {
  %0 = "stablehlo.fft"(%a) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<2x4xf32>) -> tensor<2x4xcomplex<f32>>
  return
}
