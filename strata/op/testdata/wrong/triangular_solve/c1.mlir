// triangular_solve/c1.mlir:3:8: triangular_solve: the operands must have one element type, got tensor<2x2xf32> and tensor<2x3xf64> (C1)
func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x3xf64>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x3xf64>) -> tensor<2x3xf32>
  return
}
