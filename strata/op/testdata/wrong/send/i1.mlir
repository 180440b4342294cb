// send/i1.mlir:3:8: send: inputs must be tensors, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: !stablehlo.token) {
  %0 = "stablehlo.send"(%a, %b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  return
}
