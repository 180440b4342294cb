// constant_of_unknown_size.mlir:3:40: a constant of type tensor<?xf32>
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<?xf32>
  return
}
