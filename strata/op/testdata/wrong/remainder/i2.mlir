// remainder/i2.mlir:3:8: remainder: operands must be arrays, got !stablehlo.token (I2)
func.func @main(%a: tensor<2xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.remainder"(%a, %b) : (tensor<2xf32>, !stablehlo.token) -> tensor<2xf32>
  return
}
