// rng/i3.mlir:3:8: rng: the shape must be integers of rank 1, got tensor<1xf32> (I3)
func.func @main(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<1xf32>) {
  %0 = "stablehlo.rng"(%a, %b, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<1xf32>) -> tensor<3xf32>
  return
}
