// cholesky/c2.mlir:3:8: cholesky: takes matrices, got tensor<2xf32> (C2)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
