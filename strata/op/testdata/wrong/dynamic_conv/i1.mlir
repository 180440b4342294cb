// dynamic_conv/i1.mlir:3:8: dynamic_conv: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<6x4x3xf32>, %c: tensor<1x2xi32>) {
  %0 = "stablehlo.dynamic_conv"(%a, %b, %c) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, window_strides = array<i64: 1>}> : (!stablehlo.token, tensor<6x4x3xf32>, tensor<1x2xi32>) -> tensor<2x6x5xf32>
  return
}
