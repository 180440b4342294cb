// rsqrt/i1.mlir:3:8: rsqrt: dtype i32 is not admitted; it takes floats, complex numbers (I1)
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.rsqrt"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
