// recv/i2.mlir:3:10: recv: attribute channel_id is missing
func.func @main(%a: !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%a) <{is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}
