// ?
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.add %a#1, %a : tensor<2xf32>
  return
}
