// strata.gmm/c3.mlir:3:8: gmm: dimension 1 of tensor<4x3xf32> and 2 of tensor<2x3x2xf32>, which meet, differ (C3)
func.func @main(%a: tensor<4x3xf32>, %b: tensor<2x3x2xf32>, %c: tensor<2xi32>) {
  %0 = "strata.gmm"(%a, %b, %c) <{transpose_rhs = true}> : (tensor<4x3xf32>, tensor<2x3x2xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return
}
