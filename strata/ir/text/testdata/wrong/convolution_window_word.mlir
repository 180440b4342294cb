// convolution_window_word.mlir:3:94: 'step' is none of stride pad lhs_dilate rhs_dilate reverse
func.func @f(%a: tensor<1x4x4xf32>) {
  %0 = stablehlo.convolution(%a, %a) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {step = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return
}
