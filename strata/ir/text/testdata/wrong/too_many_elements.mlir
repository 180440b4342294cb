// ?
func.func @f(%a: tensor<9223372036854775807x2xf32>) {
  return
}
