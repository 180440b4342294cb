// convolution_reversal_of_no_truth.mlir:3:8: attribute 'window_reversal' of stablehlo.convolution is array<i1: 7>
func.func @f(%a: tensor<1x2x1xf32>) {
  %0 = "stablehlo.convolution"(%a, %a) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, window_reversal = array<i1: 7>}> : (tensor<1x2x1xf32>, tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  return
}
