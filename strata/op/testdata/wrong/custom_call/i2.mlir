// custom_call/i2.mlir:3:8: stablehlo.custom_call requires attribute 'call_target_name'
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.custom_call"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
