// is_finite/i1.mlir:3:8: is_finite: dtype i32 is not admitted; it takes floats (I1)
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.is_finite"(%a) : (tensor<2xi32>) -> tensor<2xi1>
  return
}
