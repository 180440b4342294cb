// fft/c5_half.mlir:3:8: fft: IRFFT of length 5 takes 3 in the last dimension, got tensor<2x4xcomplex<f32>> (C5)
func.func @main(%a: tensor<2x4xcomplex<f32>>) {
  %0 = "stablehlo.fft"(%a) <{fft_length = array<i64: 5>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<2x4xcomplex<f32>>) -> tensor<2x5xf32>
  return
}
