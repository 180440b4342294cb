// clamp/c1.mlir:3:8: clamp: a bound tensor<2xf32> must be a scalar or have the shape of tensor<3xf32> (C1)
func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<f32>) {
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<2xf32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
