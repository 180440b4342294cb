module {
  func.func public @main(%arg0: tensor<8x16xf32>, %arg1: tensor<8xi32>) -> tensor<8xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<8xi32>
    %1 = stablehlo.reshape %0 : (tensor<8xi32>) -> tensor<8x1xi32>
    %2 = stablehlo.reshape %arg1 : (tensor<8xi32>) -> tensor<8x1xi32>
    %3 = stablehlo.concatenate %1, %2, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
    %4 = "stablehlo.gather"(%arg0, %3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<8x16xf32>, tensor<8x2xi32>) -> tensor<8xf32>
    return %4 : tensor<8xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<8x16xf32>, %arg1: tensor<8xi32>) -> tensor<8xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<8xi32>
    %1 = stablehlo.reshape %0 : (tensor<8xi32>) -> tensor<8x1xi32>
    %2 = stablehlo.reshape %arg1 : (tensor<8xi32>) -> tensor<8x1xi32>
    %3 = stablehlo.concatenate %1, %2, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
    %4 = stablehlo.concatenate %2, dim = 1 : (tensor<8x1xi32>) -> tensor<8x1xi32>
    %5 = "stablehlo.gather"(%arg0, %4) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<8x16xf32>, tensor<8x1xi32>) -> tensor<8xf32>
    return %5 : tensor<8xf32>
  }
}
