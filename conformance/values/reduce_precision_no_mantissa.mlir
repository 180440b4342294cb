// Without a bit of mantissa no NaN can be written: StableHLO's interpreter gives infinity.
func.func @main() {
  %0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %1 = stablehlo.reduce_precision %0, format = e5m0 : tensor<f32>
  check.expect_almost_eq_const %1, dense<0x7F800000> : tensor<f32>
  func.return
}
