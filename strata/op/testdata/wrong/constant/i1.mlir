// constant/i1.mlir:3:8: stablehlo.constant requires attribute 'value'
func.func @main() {
  %0 = "stablehlo.constant"() : () -> tensor<2xf32>
  return
}
