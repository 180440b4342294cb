// atan2/i2.mlir:3:8: atan2: operands must be arrays, got !stablehlo.token (I2)
func.func @main(%a: tensor<2xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.atan2"(%a, %b) : (tensor<2xf32>, !stablehlo.token) -> tensor<2xf32>
  return
}
