// bitcast_convert/i1.mlir:3:8: bitcast_convert: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token) {
  %0 = "stablehlo.bitcast_convert"(%a) : (!stablehlo.token) -> tensor<2xi32>
  return
}
