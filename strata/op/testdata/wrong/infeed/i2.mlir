// TODO
func.func @main(%a: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%a) <{infeed_config = 3 : i64}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}
