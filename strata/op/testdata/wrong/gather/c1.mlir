// gather/c1.mlir:3:8: gather: 1 window, 0 dropped and 1 batching dimensions do not make up tensor<3x4x5xf32> (C1)
func.func @main(%a: tensor<3x4x5xf32>, %b: tensor<3x2x2xi64>) {
  %0 = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<3x4x5xf32>, tensor<3x2x2xi64>) -> tensor<3x2x2xf32>
  return
}
