// rng_bit_generator/c1.mlir:3:10: rng_bit_generator: the states must have one type, got tensor<2xui64> and tensor<3xui64> (C1)
func.func @main(%a: tensor<2xui64>) {
  %0:2 = "stablehlo.rng_bit_generator"(%a) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}
