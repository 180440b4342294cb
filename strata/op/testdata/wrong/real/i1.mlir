// real/i1.mlir:3:8: real: takes floats and complex numbers, got tensor<2xi32> (I1)
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.real"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
