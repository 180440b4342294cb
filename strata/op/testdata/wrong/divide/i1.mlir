// divide/i1.mlir:3:8: divide: dtype i1 is not admitted; it takes signed integers, unsigned integers, floats, complex numbers (I1)
func.func @main(%a: tensor<2xi1>, %b: tensor<2xi1>) {
  %0 = "stablehlo.divide"(%a, %b) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}
