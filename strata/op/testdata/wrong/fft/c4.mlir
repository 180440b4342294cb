// fft/c4.mlir:3:8: fft: dimension 1 of tensor<2x5xf32> must be fft_length's 4 (C4)
func.func @main(%a: tensor<2x5xf32>) {
  %0 = "stablehlo.fft"(%a) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<2x5xf32>) -> tensor<2x3xcomplex<f32>>
  return
}
