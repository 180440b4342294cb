// atan2/i1.mlir:3:8: atan2: dtype i32 is not admitted; it takes floats, complex numbers (I1)
func.func @main(%a: tensor<2xi32>, %b: tensor<2xi32>) {
  %0 = "stablehlo.atan2"(%a, %b) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return
}
