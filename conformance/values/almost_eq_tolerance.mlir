// check.expect_almost_eq takes a tolerance, written before the type.
func.func @main() {
  %0 = stablehlo.constant dense<3.0> : tensor<f32>
  %1 = stablehlo.constant dense<3.05> : tensor<f32>
  check.expect_almost_eq %0, %1, tolerance = 0.2 : tensor<f32>
  func.return
}
