
func.func @real_op_test_f64() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
  %1 = stablehlo.real %0 : tensor<2xf64>
  check.expect_almost_eq_const %1, dense<[1.0, 2.0]> : tensor<2xf64>
  func.return
}

