// convolution/c34.mlir:3:8: convolution: tensor<2x4x7xbf16> and tensor<6x4x3x!quant.uniform<i8:f32, 5.000000e-01>> do not go together (C34)
func.func @main(%a: tensor<2x4x7xbf16>, %b: tensor<6x4x3x!quant.uniform<i8:f32, 5.000000e-01>>) {
  %0 = "stablehlo.convolution"(%a, %b) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, padding = dense<[[0, 0]]> : tensor<1x2xi64>, window_strides = array<i64: 1>}> : (tensor<2x4x7xbf16>, tensor<6x4x3x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x6x5xf32>
  return
}
