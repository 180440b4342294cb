// rng/i2.mlir:3:8: rng: a and b must be scalars, got tensor<f32> and tensor<1xf32> (I1, I2)
func.func @main(%a: tensor<f32>, %b: tensor<1xf32>, %c: tensor<1xi64>) {
  %0 = "stablehlo.rng"(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<1xf32>, tensor<1xi64>) -> tensor<3xf32>
  return
}
