// rng/i4.mlir:3:8: stablehlo.rng requires attribute 'rng_distribution'
func.func @main(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<1xi64>) {
  %0 = "stablehlo.rng"(%a, %b, %c) : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  return
}
