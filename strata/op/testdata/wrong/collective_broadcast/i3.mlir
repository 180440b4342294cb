// collective_broadcast/i3.mlir:3:8: attribute 'channel_handle' of stablehlo.collective_broadcast is "wrong", which is no #stablehlo.channel_handle
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_broadcast"(%a) <{channel_handle = "wrong", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
