// gather_of_two_vectors.mlir:3:8: index_vector_dim of stablehlo.gather is no integer
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.gather"(%a, %a) <{dimension_numbers = #stablehlo.gather<index_vector_dim = [0, 1]>, slice_sizes = array<i64: 1>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
