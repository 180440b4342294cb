// reduce_precision/i1_axis.mlir:3:8: reduce_precision: tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>> is quantised along an axis, which is not admitted (I1)
func.func @main(%a: tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) {
  %0 = "stablehlo.reduce_precision"(%a) <{exponent_bits = 5 : i32, mantissa_bits = 2 : i32}> : (tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) -> tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>
  return
}
