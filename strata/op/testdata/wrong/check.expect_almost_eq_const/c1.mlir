// check.expect_almost_eq_const/c1.mlir:3:3: expect_almost_eq_const: both sides must have one type, got tensor<3xf32> and tensor<2xf32> (C1)
func.func @main(%a: tensor<3xf32>) {
  "check.expect_almost_eq_const"(%a) <{value = dense<1.000000e+00> : tensor<2xf32>}> : (tensor<3xf32>) -> ()
  return
}
