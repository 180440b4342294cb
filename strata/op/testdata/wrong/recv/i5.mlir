// recv/i5.mlir:3:10: attribute 'source_target_pairs' of stablehlo.recv is "wrong", which is no tensor<?x?xi64>
func.func @main(%a: !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = "wrong"}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}
