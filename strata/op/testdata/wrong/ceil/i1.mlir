// ceil/i1.mlir:3:8: ceil: dtype i32 is not admitted; it takes floats (I1)
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.ceil"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
