// ?
func.func @f(%a: tensor<2xcomplex<i32>>) {
  return
}
