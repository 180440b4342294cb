// ?
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.iota"() <{iota_dimension = "x"}> : () -> tensor<2xf32>
  return
}
