// cholesky/i1.mlir:3:8: cholesky: takes floats and complex numbers, got tensor<2x2xi32> (I1)
func.func @main(%a: tensor<2x2xi32>) {
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<2x2xi32>) -> tensor<2x2xi32>
  return
}
