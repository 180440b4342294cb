// dynamic_gather/c5.mlir:3:8: dynamic_gather: the window dimensions has dimension 2, out of range for rank 2 (C5)
func.func @main(%a: tensor<3x4xf32>, %b: tensor<5x2xi32>, %c: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_gather"(%a, %b, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<3x4xf32>, tensor<5x2xi32>, tensor<2xi32>) -> tensor<5x2xf32>
  return
}
