// infeed/c2.mlir:3:10: infeed: result 0 must be a tensor, got !stablehlo.token (C2)
func.func @main(%a: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%a) : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}
