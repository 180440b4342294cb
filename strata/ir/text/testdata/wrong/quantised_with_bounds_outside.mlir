// ?
func.func @f(%a: tensor<4x!quant.uniform<i8<0:128>:f32, 1.0>>) {
  return
}
