// check.expect_almost_eq/c2.mlir:3:3: expect_almost_eq: operands must be floats or complex, got tensor<2xi32> (C2)
func.func @main(%a: tensor<2xi32>, %b: tensor<2xi32>) {
  "check.expect_almost_eq"(%a, %b) : (tensor<2xi32>, tensor<2xi32>) -> ()
  return
}
