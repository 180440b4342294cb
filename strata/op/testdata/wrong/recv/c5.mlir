// recv/c5.mlir:3:10: recv: channel type 1 does not go with is_host_transfer = true (C5)
func.func @main(%a: !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = true, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}
