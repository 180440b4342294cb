// dynamic_gather/i1.mlir:3:8: dynamic_gather: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<5x2xi32>, %c: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_gather"(%a, %b, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false}> : (!stablehlo.token, tensor<5x2xi32>, tensor<2xi32>) -> tensor<5x2xf32>
  return
}
