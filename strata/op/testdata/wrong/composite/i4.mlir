// composite/i4.mlir:6:8: stablehlo.composite requires attribute 'decomposition'
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.composite"(%a) <{name = "a.b"}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
