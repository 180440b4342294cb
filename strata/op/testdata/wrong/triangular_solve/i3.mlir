// triangular_solve/i3.mlir:3:8: stablehlo.triangular_solve requires attribute 'left_side'
func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x3xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
