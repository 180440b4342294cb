// power/i2.mlir:3:8: power: (I2) operands must be arrays, got !stablehlo.token
func.func @main(%a: tensor<2xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.power"(%a, %b) : (tensor<2xf32>, !stablehlo.token) -> tensor<2xf32>
  return
}
