// ?
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.reduce_precision %a, format = m7e8 : tensor<2xf32>
  return
}
