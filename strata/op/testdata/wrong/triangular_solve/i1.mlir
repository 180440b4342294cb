// triangular_solve/i1.mlir:3:8: triangular_solve: takes floats and complex numbers, got tensor<2x2xi32> (I1)
func.func @main(%a: tensor<2x2xi32>, %b: tensor<2x3xi32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}
