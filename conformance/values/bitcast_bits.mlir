// bitcast_convert between 8 x i1 and i8: i1 counts as one bit (StableHLO specification, bitcast_convert C1), the first element is the lowest bit.
func.func @main() {
  %0 = stablehlo.constant dense<[true, false, true, true, false, false, false, true]> : tensor<8xi1>
  %1 = stablehlo.bitcast_convert %0 : (tensor<8xi1>) -> tensor<ui8>
  check.expect_eq_const %1, dense<141> : tensor<ui8>
  func.return
}
