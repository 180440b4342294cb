// fft_of_no_kind.mlir:3:8: attribute 'fft_type' of stablehlo.fft is "DCT", which is none of FFT IFFT RFFT IRFFT
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.fft %a, type = DCT, length = [2] : (tensor<2xf32>) -> tensor<2xf32>
  return
}
