
func.func @logistic_op_test_c128() {
  %operand = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f64>>
  %result = stablehlo.logistic %operand : tensor<complex<f64>>
  check.expect_almost_eq_const %result,
      dense<(1.02141536417218054, 0.40343870608154248)> : tensor<complex<f64>>
  func.return
}
