// fft/i1.mlir:3:8: fft: takes floats and complex numbers, got tensor<2x4xi32> (I1)
func.func @main(%a: tensor<2x4xi32>) {
  %0 = "stablehlo.fft"(%a) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<2x4xi32>) -> tensor<2x4xcomplex<f32>>
  return
}
