// infeed/c1.mlir:3:3: infeed: (C1) needs a result, got 0
func.func @main(%a: !stablehlo.token) {
  "stablehlo.infeed"(%a) : (!stablehlo.token) -> ()
  return
}
