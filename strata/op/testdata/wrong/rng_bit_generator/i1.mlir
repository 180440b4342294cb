// rng_bit_generator/i1.mlir:3:10: stablehlo.rng_bit_generator requires attribute 'rng_algorithm'
func.func @main(%a: tensor<2xui64>) {
  %0:2 = "stablehlo.rng_bit_generator"(%a) : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return
}
