// convolution/i2.mlir:3:8: convolution: operands must be arrays, got !stablehlo.token (I2)
func.func @main(%a: tensor<2x4x7xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.convolution"(%a, %b) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, padding = dense<[[0, 0]]> : tensor<1x2xi64>, window_strides = array<i64: 1>}> : (tensor<2x4x7xf32>, !stablehlo.token) -> tensor<2x6x5xf32>
  return
}
