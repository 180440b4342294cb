// rng_bit_generator/c2.mlir:3:10: rng_bit_generator: THREE_FRY takes a state of 2 words, got tensor<3xui64> (C2)
func.func @main(%a: tensor<3xui64>) {
  %0:2 = "stablehlo.rng_bit_generator"(%a) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}
