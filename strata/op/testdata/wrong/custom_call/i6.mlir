// TODO
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.custom_call"(%a) <{called_computations = 3 : i64, call_target_name = "f"}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
