// convolution/c8.mlir:3:8: convolution: rhs_dilation must be positive, got [0] (C8)
func.func @main(%a: tensor<2x4x7xf32>, %b: tensor<6x4x3xf32>) {
  %0 = "stablehlo.convolution"(%a, %b) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, padding = dense<[[0, 0]]> : tensor<1x2xi64>, rhs_dilation = array<i64: 0>, window_strides = array<i64: 1>}> : (tensor<2x4x7xf32>, tensor<6x4x3xf32>) -> tensor<2x6x5xf32>
  return
}
