// rng/c1.mlir:3:8: rng: a, b and the result must have one element type, got tensor<f32>, tensor<f64> and tensor<3xf32> (C1)
func.func @main(%a: tensor<f32>, %b: tensor<f64>, %c: tensor<1xi64>) {
  %0 = "stablehlo.rng"(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f64>, tensor<1xi64>) -> tensor<3xf32>
  return
}
