// negate/i1.mlir:3:8: negate: dtype i1 is not admitted; it takes signed integers, unsigned integers, floats, complex numbers (I1)
func.func @main(%a: tensor<2xi1>) {
  %0 = "stablehlo.negate"(%a) : (tensor<2xi1>) -> tensor<2xi1>
  return
}
