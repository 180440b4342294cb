// dynamic_gather/c14.mlir:3:8: dynamic_gather: the result has the operand's element type, got tensor<3x4xf32> and tensor<5x2xf64> (C14)
func.func @main(%a: tensor<3x4xf32>, %b: tensor<5x2xi32>, %c: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_gather"(%a, %b, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<3x4xf32>, tensor<5x2xi32>, tensor<2xi32>) -> tensor<5x2xf64>
  return
}
