// subtract/i1.mlir:3:8: subtract: dtype i1 is not admitted; it takes signed integers, unsigned integers, floats, complex numbers (I1)
func.func @main(%a: tensor<2xi1>, %b: tensor<2xi1>) {
  %0 = "stablehlo.subtract"(%a, %b) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}
