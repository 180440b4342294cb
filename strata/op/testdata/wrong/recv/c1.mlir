// recv/c1.mlir:3:10: recv: source_target_pairs must be pairs, got tensor<1x3xi64> (C1)
func.func @main(%a: !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}
