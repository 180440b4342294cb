// ?
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0:2 = stablehlo.add %a, %a : tensor<2xf32>
  return
}
