// dot_general_word.mlir:3:38: expected batching_dims, contracting_dims, precision or algorithm
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.dot_general %a, %a, contracts = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return
}
