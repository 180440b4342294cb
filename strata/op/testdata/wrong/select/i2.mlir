// select/i2.mlir:3:8: select: operands must be arrays, got !stablehlo.token (I2)
func.func @main(%a: tensor<2xi1>, %b: !stablehlo.token, %c: tensor<2xf32>) {
  %0 = "stablehlo.select"(%a, %b, %c) : (tensor<2xi1>, !stablehlo.token, tensor<2xf32>) -> tensor<2xf32>
  return
}
