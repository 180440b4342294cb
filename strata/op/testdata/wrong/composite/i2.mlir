// composite/i2.mlir:6:8: stablehlo.composite requires attribute 'name'
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.composite"(%a) <{decomposition = @f}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
