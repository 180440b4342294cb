// cholesky/i2.mlir:3:8: attribute 'lower' of stablehlo.cholesky is 3 : i64, which is no boolean
func.func @main(%a: tensor<3x2x2xf32>) {
  %0 = "stablehlo.cholesky"(%a) <{lower = 3 : i64}> : (tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  return
}
