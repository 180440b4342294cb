// TODO
func.func @main(%a: tensor<2xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.outfeed"(%a, %b) <{outfeed_config = 3 : i64}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
