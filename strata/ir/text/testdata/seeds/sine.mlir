
func.func @sine_op_test_c64() {
  %0 = stablehlo.constant dense<[(1.5, 2.5), (3.5, 4.5)]> : tensor<2xcomplex<f32>>
  %1 = stablehlo.sine %0 : tensor<2xcomplex<f32>>
  check.expect_almost_eq_const %1, dense<[(6.1169281, 0.427974522), (-15.7901983, -42.1433716)]> : tensor<2xcomplex<f32>>
  func.return
}

