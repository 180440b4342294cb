// all_to_all/i6.mlir:3:8: attribute 'channel_handle' of stablehlo.all_to_all is "wrong", which is no #stablehlo.channel_handle
func.func @main(%a: tensor<2x2xf32>) {
  %0 = "stablehlo.all_to_all"(%a) <{channel_handle = "wrong", concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x2xf32>) -> tensor<1x4xf32>
  return
}
