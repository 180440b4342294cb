// constant_with_more_behind.mlir:3:37: expected the end of the constant
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<1.0 2.0> : tensor<f32>
  return
}
