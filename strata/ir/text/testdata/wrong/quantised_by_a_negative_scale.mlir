// ?
func.func @f(%a: tensor<4x!quant.uniform<i8:f32, -1.0:3>>) {
  return
}
