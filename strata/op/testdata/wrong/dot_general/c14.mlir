// dot_general/c14.mlir:3:8: dot_general: tensor<2x4x5x!quant.uniform<i8:f32, 5.000000e-01>> and tensor<2x3x5xf32> do not go together (C14)
func.func @main(%a: tensor<2x3x4x!quant.uniform<i8:f32, 5.000000e-01>>, %b: tensor<2x4x5x!quant.uniform<i8:f32, 5.000000e-01>>) {
  %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3x4x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<2x4x5x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x3x5xf32>
  return
}
