// dynamic_conv/c17.mlir:3:8: dynamic_conv: kernel_spatial_dimensions must have 1 entries, got 2 (C17)
func.func @main(%a: tensor<2x4x7xf32>, %b: tensor<6x4x3xf32>, %c: tensor<1x2xi32>) {
  %0 = "stablehlo.dynamic_conv"(%a, %b, %c) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0, 1]->[b, f, 0]>, feature_group_count = 1 : i64, window_strides = array<i64: 1>}> : (tensor<2x4x7xf32>, tensor<6x4x3xf32>, tensor<1x2xi32>) -> tensor<2x6x5xf32>
  return
}
