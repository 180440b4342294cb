// convert of a complex number to anything that is not complex takes the real part first (StableHLO specification, convert):
// (0, 1) is therefore false.
func.func @main() {
  %0 = stablehlo.constant dense<[(0.0, 2.0), (0.5, 0.0), (-0.0, 7.0)]> : tensor<3xcomplex<f32>>
  %1 = stablehlo.convert %0 : (tensor<3xcomplex<f32>>) -> tensor<3xi1>
  check.expect_eq_const %1, dense<[false, true, false]> : tensor<3xi1>
  func.return
}
