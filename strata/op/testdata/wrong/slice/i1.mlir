// slice/i1.mlir:3:8: slice: tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>> is quantised along an axis, which is not admitted (I1)
func.func @main(%a: tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) {
  %0 = "stablehlo.slice"(%a) <{limit_indices = array<i64: 2>, start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) -> tensor<1x!quant.uniform<i8:f32:0, {5.000000e-01}>>
  return
}
