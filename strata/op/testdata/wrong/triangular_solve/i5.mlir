// triangular_solve/i5.mlir:3:8: stablehlo.triangular_solve requires attribute 'unit_diagonal'
func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x3xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
