// constant_with_too_few_values.mlir:3:36: too few values along dimension 0 of tensor<2xi32>
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<[1]> : tensor<2xi32>
  return
}
