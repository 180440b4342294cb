// infeed/c1.mlir:3:3: infeed: needs a result, got 0 (C1)
func.func @main(%a: !stablehlo.token) {
  "stablehlo.infeed"(%a) : (!stablehlo.token) -> ()
  return
}
