// iota/c1.mlir:3:8: iota: iota_dimension 1 is outside of tensor<2xf32> (C1)
func.func @main() {
  %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2xf32>
  return
}
