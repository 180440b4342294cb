// sine/i1.mlir:3:8: sine: dtype i32 is not admitted; it takes floats, complex numbers (I1)
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.sine"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
