// scatter/c3.mlir:3:10: scatter: updates must have one shape, got tensor<3x2x2xf32> and tensor<3x2x3xf32> (C3)
func.func @main(%a: tensor<3x4x5xf32>, %b: tensor<3x4x5xf32>, %c: tensor<3x2x2xi64>, %d: tensor<3x2x2xf32>, %e: tensor<3x2x3xf32>) {
  %0:2 = "stablehlo.scatter"(%a, %b, %c, %d, %e) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r, %r) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<3x4x5xf32>, tensor<3x4x5xf32>, tensor<3x2x2xi64>, tensor<3x2x2xf32>, tensor<3x2x3xf32>) -> (tensor<3x4x5xf32>, tensor<3x4x5xf32>)
  return
}
