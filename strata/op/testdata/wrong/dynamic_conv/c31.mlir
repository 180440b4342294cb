// dynamic_conv/c31.mlir:3:8: dynamic_conv: tensor<2x4x7x!quant.uniform<i8:f32, 5.000000e-01>> and tensor<6x4x3x!quant.uniform<i16:f32, 5.000000e-01>> do not go together (C31)
func.func @main(%a: tensor<2x4x7x!quant.uniform<i8:f32, 5.000000e-01>>, %b: tensor<6x4x3x!quant.uniform<i16:f32, 5.000000e-01>>, %c: tensor<1x2xi32>) {
  %0 = "stablehlo.dynamic_conv"(%a, %b, %c) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, window_strides = array<i64: 1>}> : (tensor<2x4x7x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<6x4x3x!quant.uniform<i16:f32, 5.000000e-01>>, tensor<1x2xi32>) -> tensor<2x6x5x!quant.uniform<i8:f32, 5.000000e-01>>
  return
}
