// scatter/c9.mlir:3:8: scatter: dimension 0 is both dropped and batching (C9)
func.func @main(%a: tensor<3x4x5xf32>, %b: tensor<3x2x2xi64>, %c: tensor<3x2x2xf32>) {
  %0 = "stablehlo.scatter"(%a, %b, %c) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<3x4x5xf32>, tensor<3x2x2xi64>, tensor<3x2x2xf32>) -> tensor<3x4x5xf32>
  return
}
