// fft/c5.mlir:3:8: stablehlo.fft: result 0 is tensor<2x5xcomplex<f32>>, but tensor<2x4xcomplex<f32>> is inferred (C2, C4, C5)
func.func @main(%a: tensor<2x4xcomplex<f32>>) {
  %0 = "stablehlo.fft"(%a) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<2x4xcomplex<f32>>) -> tensor<2x5xcomplex<f32>>
  return
}
