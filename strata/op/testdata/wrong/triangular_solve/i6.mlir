// triangular_solve/i6.mlir:3:8: stablehlo.triangular_solve requires attribute 'transpose_a'
func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x3xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
