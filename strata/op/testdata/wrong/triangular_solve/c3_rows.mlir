// triangular_solve/c3_rows.mlir:3:8: triangular_solve: dimension 0 of tensor<3x3xf32> must be as long as the rows of tensor<2x2xf32> (C3)
func.func @main(%a: tensor<2x2xf32>, %b: tensor<3x3xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}
