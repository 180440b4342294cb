// send/i6.mlir:3:8: attribute 'source_target_pairs' of stablehlo.send is "wrong", which is no tensor<?x?xi64>
func.func @main(%a: tensor<2xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.send"(%a, %b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = "wrong"}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
