// iota_of_a_string.mlir:3:8: attribute 'iota_dimension' of stablehlo.iota is "x", which is no 64-bit integer
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.iota"() <{iota_dimension = "x"}> : () -> tensor<2xf32>
  return
}
