// convolution_spatial_out_of_order.mlir:3:61: spatial dimension 3 is out of order
func.func @f(%a: tensor<1x4x4xf32>) {
  %0 = stablehlo.convolution(%a, %a) dim_numbers = [b, 3, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return
}
