// all_gather/i4.mlir:3:8: attribute 'channel_handle' of stablehlo.all_gather is "wrong", which is no #stablehlo.channel_handle
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{channel_handle = "wrong", all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  return
}
