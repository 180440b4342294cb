// abs/i1.mlir:3:8: abs: dtype ui8 is not admitted; it takes signed integers, floats, complex numbers (I1)
func.func @main(%a: tensor<2xui8>) {
  %0 = "stablehlo.abs"(%a) : (tensor<2xui8>) -> tensor<2xui8>
  return
}
