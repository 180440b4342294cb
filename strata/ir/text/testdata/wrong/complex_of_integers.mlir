// complex_of_integers.mlir:2:35: complex<i32> is no element type
func.func @f(%a: tensor<2xcomplex<i32>>) {
  return
}
