// cholesky/c3.mlir:3:8: cholesky: the matrices must be square, got tensor<2x3xf32> (C3)
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
