// convolution_without_kernel.mlir:3:61: expected 'x'
func.func @f(%a: tensor<1x2x1xf32>) {
  %0 = stablehlo.convolution(%a, %a) dim_numbers = [b, 0, f]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x1xf32>, tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  return
}
