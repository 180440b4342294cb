// gather/i3.mlir:3:8: stablehlo.gather requires attribute 'dimension_numbers'
func.func @main(%a: tensor<3x4x5xf32>, %b: tensor<3x2x2xi64>) {
  %0 = "stablehlo.gather"(%a, %b) <{collapsed_slice_dims = array<i64: 1>, index_vector_dim = 2 : i64, indices_are_sorted = false, offset_dims = 2 : i64, operand_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1, 2>, start_index_map = array<i64: 1, 2>, start_indices_batching_dims = array<i64: 0>}> : (tensor<3x4x5xf32>, tensor<3x2x2xi64>) -> tensor<3x2x2xf32>
  return
}
