// pad/i2.mlir:3:8: pad: operands must be arrays, got !stablehlo.token (I2)
func.func @main(%a: tensor<3xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.pad"(%a, %b) <{edge_padding_high = array<i64: 1>, edge_padding_low = array<i64: 1>, interior_padding = array<i64: 0>}> : (tensor<3xf32>, !stablehlo.token) -> tensor<5xf32>
  return
}
