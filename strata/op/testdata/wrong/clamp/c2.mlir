// clamp/c2.mlir:3:8: clamp: a bound tensor<2xf32> must be a scalar or have the shape of tensor<3xf32> (C2)
func.func @main(%a: tensor<f32>, %b: tensor<3xf32>, %c: tensor<2xf32>) {
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<f32>, tensor<3xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}
