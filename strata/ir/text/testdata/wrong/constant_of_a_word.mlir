// constant_of_a_word.mlir:3:33: expected a number
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<x> : tensor<2xf32>
  return
}
