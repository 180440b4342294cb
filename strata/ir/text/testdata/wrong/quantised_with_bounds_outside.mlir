// quantised_with_bounds_outside.mlir:2:45: bounds 0 and 128 do not fit i8
func.func @f(%a: tensor<4x!quant.uniform<i8<0:128>:f32, 1.0>>) {
  return
}
