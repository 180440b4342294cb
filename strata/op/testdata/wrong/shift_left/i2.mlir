// shift_left/i2.mlir:3:8: shift_left: operands must be arrays, got !stablehlo.token (I2)
func.func @main(%a: tensor<2xi32>, %b: !stablehlo.token) {
  %0 = "stablehlo.shift_left"(%a, %b) : (tensor<2xi32>, !stablehlo.token) -> tensor<2xi32>
  return
}
