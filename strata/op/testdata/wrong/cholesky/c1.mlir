// cholesky/c1.mlir:3:8: stablehlo.cholesky: result 0 is tensor<3x2x3xf32>, but tensor<3x2x2xf32> is inferred (C1)
func.func @main(%a: tensor<3x2x2xf32>) {
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<3x2x2xf32>) -> tensor<3x2x3xf32>
  return
}
