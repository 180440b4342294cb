// shift_right_logical/i1.mlir:3:8: shift_right_logical: dtype i1 is not admitted; it takes signed integers, unsigned integers (I1)
func.func @main(%a: tensor<2xi1>, %b: tensor<2xi1>) {
  %0 = "stablehlo.shift_right_logical"(%a, %b) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}
