// check.expect_close/c2.mlir:3:3: expect_close: operands must be floats or complex, got tensor<2xi32> (C2)
func.func @main(%a: tensor<2xi32>, %b: tensor<2xi32>) {
  "check.expect_close"(%a, %b) : (tensor<2xi32>, tensor<2xi32>) -> ()
  return
}
