// ?
func.func @f(tensor<2xf32>) {
  return
}
