// convolution_dimension_twice.mlir:3:60: dimension 'b' twice
func.func @f(%a: tensor<1x4x4xf32>) {
  %0 = stablehlo.convolution(%a, %a) dim_numbers = [b, 0, b]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return
}
