// send/c5.mlir:3:8: send: channel type 1 does not go with is_host_transfer = true (C5)
func.func @main(%a: tensor<2xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.send"(%a, %b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = true, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
