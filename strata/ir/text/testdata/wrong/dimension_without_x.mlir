// ?
func.func @f(%a: tensor<2 f32>) {
  return
}
