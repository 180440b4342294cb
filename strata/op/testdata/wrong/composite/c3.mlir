// composite/c3.mlir:6:8: stablehlo.composite: @f takes (tensor<2xf32>), but is given (tensor<3xf32>) (C3)
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
func.func @main(%a: tensor<3xf32>) {
  %0 = "stablehlo.composite"(%a) <{decomposition = @f, name = "a.b"}> : (tensor<3xf32>) -> tensor<2xf32>
  return
}
