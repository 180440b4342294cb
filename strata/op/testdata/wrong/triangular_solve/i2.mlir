// triangular_solve/i2.mlir:3:8: triangular_solve: operands must be arrays, got !stablehlo.token (I2)
func.func @main(%a: tensor<2x2xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, !stablehlo.token) -> tensor<2x3xf32>
  return
}
