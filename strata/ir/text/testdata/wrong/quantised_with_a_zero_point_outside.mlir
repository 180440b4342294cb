// quantised_with_a_zero_point_outside.mlir:2:54: zero point 300 is not within -128 and 127
func.func @f(%a: tensor<4x!quant.uniform<i8:f32, 1.0:300>>) {
  return
}
