
func.func @cosine_op_test_c64() {
  %0 = stablehlo.constant dense<[(1.5, 2.5), (3.5, 4.5)]> : tensor<2xcomplex<f32>>
  %1 = stablehlo.cosine %0 : tensor<2xcomplex<f32>>
  check.expect_almost_eq_const %1, dense<[(4.337810e-01, -6.03504848), (-42.1537743, 15.7863016)]> : tensor<2xcomplex<f32>>
  func.return
}

