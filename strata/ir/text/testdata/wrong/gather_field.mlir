// gather_field.mlir:3:8: attribute 'dimension_numbers' of stablehlo.gather: expected an integer
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.gather"(%a, %a) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
