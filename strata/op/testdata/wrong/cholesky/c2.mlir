// cholesky/c2.mlir:3:8: cholesky: (C2) takes matrices, got tensor<2xf32>
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
