// outfeed/i1.mlir:3:8: outfeed: (I1) inputs must be tensors, got !stablehlo.token
func.func @main(%a: !stablehlo.token, %b: !stablehlo.token) {
  %0 = "stablehlo.outfeed"(%a, %b) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  return
}
