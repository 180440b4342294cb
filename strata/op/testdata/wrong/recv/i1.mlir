// recv/i1.mlir:3:10: recv: the operand must be a token, got tensor<2xf32> (I1)
func.func @main(%a: tensor<2xf32>) {
  %0:2 = "stablehlo.recv"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> (tensor<2xf32>, !stablehlo.token)
  return
}
