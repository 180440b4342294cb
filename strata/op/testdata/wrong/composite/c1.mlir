// composite/c1.mlir:6:8: composite: the name plain has no dialect (C1)
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.composite"(%a) <{decomposition = @f, name = "plain"}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
