// composite/c2.mlir:6:8: stablehlo.composite: function @g is not defined (C2)
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.composite"(%a) <{decomposition = @g, name = "a.b"}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
