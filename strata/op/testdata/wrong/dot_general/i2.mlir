// dot_general/i2.mlir:3:8: dot_general: operands must be arrays, got !stablehlo.token (I2)
func.func @main(%a: tensor<2x3x4xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3x4xf32>, !stablehlo.token) -> tensor<2x3x5xf32>
  return
}
