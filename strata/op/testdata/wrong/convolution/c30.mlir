// convolution/c30.mlir:3:8: convolution: result tensor<2x6x5x!quant.uniform<i8:f32:0, {5.000000e-01,5.000000e-01}>> is not quantised along its features (C30)
func.func @main(%a: tensor<2x4x7x!quant.uniform<i8:f32, 5.000000e-01>>, %b: tensor<6x4x3x!quant.uniform<i8:f32:0, {5.000000e-01,5.000000e-01,5.000000e-01,5.000000e-01,5.000000e-01,5.000000e-01}>>) {
  %0 = "stablehlo.convolution"(%a, %b) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, padding = dense<[[0, 0]]> : tensor<1x2xi64>, window_strides = array<i64: 1>}> : (tensor<2x4x7x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<6x4x3x!quant.uniform<i8:f32:0, {5.000000e-01,5.000000e-01,5.000000e-01,5.000000e-01,5.000000e-01,5.000000e-01}>>) -> tensor<2x6x5x!quant.uniform<i8:f32:0, {5.000000e-01,5.000000e-01}>>
  return
}
