// constant_of_truth.mlir:3:33: a truth value for f32
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<true> : tensor<f32>
  return
}
