// check.expect_almost_eq/c1.mlir:3:3: expect_almost_eq: both sides must have one type, got tensor<2xf32> and tensor<3xf32> (C1)
func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  "check.expect_almost_eq"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> ()
  return
}
