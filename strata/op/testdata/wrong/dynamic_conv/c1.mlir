// dynamic_conv/c1.mlir:3:8: dynamic_conv: operands must have one rank of at least 2, got tensor<2x4x7xf32> and tensor<6x4xf32> (C1)
func.func @main(%a: tensor<2x4x7xf32>, %b: tensor<6x4xf32>, %c: tensor<1x2xi32>) {
  %0 = "stablehlo.dynamic_conv"(%a, %b, %c) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, window_strides = array<i64: 1>}> : (tensor<2x4x7xf32>, tensor<6x4xf32>, tensor<1x2xi32>) -> tensor<2x6x5xf32>
  return
}
