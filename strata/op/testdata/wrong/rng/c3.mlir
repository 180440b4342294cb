// rng/c3.mlir:3:8: rng: 2 sizes are given for the result tensor<3xf32> (C3)
func.func @main(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<2xi64>) {
  %0 = "stablehlo.rng"(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3xf32>
  return
}
