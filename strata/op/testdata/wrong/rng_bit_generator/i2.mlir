// rng_bit_generator/i2.mlir:3:10: rng_bit_generator: the state must be ui64 of rank 1, got tensor<2xi32> (I2)
func.func @main(%a: tensor<2xi32>) {
  %0:2 = "stablehlo.rng_bit_generator"(%a) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xi32>) -> (tensor<2xi32>, tensor<4xui32>)
  return
}
