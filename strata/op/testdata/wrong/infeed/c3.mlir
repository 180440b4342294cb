// infeed/c3.mlir:3:8: infeed: the last result must be a token, got tensor<2xf32> (C3)
func.func @main(%a: !stablehlo.token) {
  %0 = "stablehlo.infeed"(%a) : (!stablehlo.token) -> tensor<2xf32>
  return
}
