// outfeed/i1.mlir:3:8: outfeed: inputs must be tensors, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: !stablehlo.token) {
  %0 = "stablehlo.outfeed"(%a, %b) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  return
}
