// convolution_dimension_of_no_kind.mlir:3:60: dimension 'q' is none of b f and numbers
func.func @f(%a: tensor<1x2x1xf32>) {
  %0 = stablehlo.convolution(%a, %a) dim_numbers = [b, 0, q]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x1xf32>, tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  return
}
