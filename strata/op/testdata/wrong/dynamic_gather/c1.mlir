// dynamic_gather/c1.mlir:3:8: dynamic_gather: 1 window, 0 dropped and 0 batching dimensions do not make up tensor<3x4xf32> (C1)
func.func @main(%a: tensor<3x4xf32>, %b: tensor<5x2xi32>, %c: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_gather"(%a, %b, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<3x4xf32>, tensor<5x2xi32>, tensor<2xi32>) -> tensor<5x2xf32>
  return
}
