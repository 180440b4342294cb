// triangular_solve/i1_axis.mlir:3:8: triangular_solve: tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>> is quantised along an axis, which is not admitted (I1)
func.func @main(%a: tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>, %b: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01>>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>, tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01>>
  return
}
