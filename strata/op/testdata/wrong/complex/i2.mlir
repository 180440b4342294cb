// complex/i2.mlir:3:8: complex: (I2) operands must be arrays, got !stablehlo.token
func.func @main(%a: tensor<2xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.complex"(%a, %b) : (tensor<2xf32>, !stablehlo.token) -> tensor<2xcomplex<f32>>
  return
}
