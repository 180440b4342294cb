// ?
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.fft %a, type = DCT, length = [2] : (tensor<2xf32>) -> tensor<2xf32>
  return
}
