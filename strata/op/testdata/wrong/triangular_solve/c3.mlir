// triangular_solve/c3.mlir:3:8: triangular_solve: a must be square, got tensor<2x3xf32> (C3)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
