// triangular_solve/c4.mlir:3:8: stablehlo.triangular_solve: result 0 is tensor<3x2xf32>, but tensor<2x3xf32> is inferred (C4)
func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x3xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
