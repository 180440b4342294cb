// outfeed/i2.mlir:3:8: outfeed: the last operand must be a token, got tensor<2xf32> (I2)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.outfeed"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> !stablehlo.token
  return
}
