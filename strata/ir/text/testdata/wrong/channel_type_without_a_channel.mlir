// channel_type_without_a_channel.mlir:3:8: attribute 'channel_type' of stablehlo.send needs 'channel_id'
func.func @f(%a: tensor<f32>, %t: !stablehlo.token) {
  %0 = "stablehlo.send"(%a, %t) <{channel_type = 1 : i64, is_host_transfer = false}> : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return
}
