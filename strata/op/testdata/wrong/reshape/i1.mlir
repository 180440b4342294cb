// reshape/i1.mlir:3:8: reshape: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token) {
  %0 = "stablehlo.reshape"(%a) : (!stablehlo.token) -> tensor<6xf32>
  return
}
