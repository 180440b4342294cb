
func.func @add_op_test_f8E3M4() {
  %0 = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf8E3M4>
  %result = stablehlo.dot_general %0, %0,
    contracting_dims = [0] x [0]
    : (tensor<4xf8E3M4>, tensor<4xf8E3M4>) -> tensor<f8E3M4>
  check.expect_almost_eq_const %result, dense<14.0> : tensor<f8E3M4>
  func.return
}

