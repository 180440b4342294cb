// floor/i1.mlir:3:8: floor: dtype i32 is not admitted; it takes floats (I1)
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.floor"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
