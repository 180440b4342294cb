
func.func @iota_op_test_si8_dim_1() {
  %0 = stablehlo.iota dim = 1 : tensor<3x4xi8>
  check.expect_eq_const %0, dense<[[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]> : tensor<3x4xi8>
  func.return
}

