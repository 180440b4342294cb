
func.func @negate_op_test_ui4() {
  %0 = stablehlo.constant dense<[0, 8, 15]> : tensor<3xui4>
  %1 = stablehlo.negate %0 : tensor<3xui4>
  check.expect_eq_const %1, dense<[0, 8, 1]> : tensor<3xui4>
  func.return
}

