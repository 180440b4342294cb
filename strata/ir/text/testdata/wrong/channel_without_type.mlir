// channel_without_type.mlir:3:8: attribute 'channel_handle' of stablehlo.send needs a handle and a type
func.func @f(%a: tensor<2xf32>, %t: !stablehlo.token) {
  %0 = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1>}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
