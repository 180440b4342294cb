// ?
func.func @f(%a: tensor<4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  return
}
