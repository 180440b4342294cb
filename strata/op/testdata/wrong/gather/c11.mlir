// gather/c11.mlir:3:8: gather: the operand's batching dimensions has dimension 3, out of range for rank 3 (C11)
func.func @main(%a: tensor<3x4x5xf32>, %b: tensor<3x2x2xi64>) {
  %0 = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [3], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<3x4x5xf32>, tensor<3x2x2xi64>) -> tensor<3x2x2xf32>
  return
}
