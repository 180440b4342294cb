// gather_field_twice.mlir:3:8: attribute 'dimension_numbers' of stablehlo.gather: field 'offset_dims' twice
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.gather"(%a, %a) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], offset_dims = [0]>, slice_sizes = array<i64: 1>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
