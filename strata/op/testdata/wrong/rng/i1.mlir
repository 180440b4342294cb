// rng/i1.mlir:3:8: rng: a and b must be scalars, got tensor<1xf32> and tensor<f32> (I1, I2)
func.func @main(%a: tensor<1xf32>, %b: tensor<f32>, %c: tensor<1xi64>) {
  %0 = "stablehlo.rng"(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<1xf32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  return
}
