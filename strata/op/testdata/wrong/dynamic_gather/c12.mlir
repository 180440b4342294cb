// dynamic_gather/c12.mlir:6:8: dynamic_gather: slice size 5 does not fit dimension 1 of tensor<3x4xf32> (C12)
func.func @main() {
  %a = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<3x4xf32>}> : () -> tensor<3x4xf32>
  %b = "stablehlo.constant"() <{value = dense<0> : tensor<5x2xi32>}> : () -> tensor<5x2xi32>
  %c = "stablehlo.constant"() <{value = dense<[1, 5]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %0 = "stablehlo.dynamic_gather"(%a, %b, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<5x2xi32>, tensor<2xi32>) -> tensor<5x5xf32>
  return
}
