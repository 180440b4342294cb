// triangular_solve/c2.mlir:3:8: triangular_solve: takes matrices of one rank, got tensor<2x2xf32> and tensor<2xf32> (C2)
func.func @main(%a: tensor<2x2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}
