// ?
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<"0x12G4"> : tensor<2xi8>
  return
}
