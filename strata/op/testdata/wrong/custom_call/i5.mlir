// TODO
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.custom_call"(%a) <{api_version = "wrong", call_target_name = "f"}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
