// convolution_number_of_two.mlir:3:8: attribute 'dimension_numbers' of stablehlo.convolution: field 'input_batch_dimension' is no number
func.func @f(%a: tensor<1x2x1xf32>) {
  %0 = "stablehlo.convolution"(%a, %a) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<input_batch_dimension = [0, 1]>, window_reversal = array<i1: false>}> : (tensor<1x2x1xf32>, tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  return
}
