// iota/i1.mlir:3:8: stablehlo.iota requires attribute 'iota_dimension'
func.func @main() {
  %0 = "stablehlo.iota"() : () -> tensor<2xf32>
  return
}
