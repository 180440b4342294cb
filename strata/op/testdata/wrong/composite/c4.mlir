// composite/c4.mlir:6:8: stablehlo.composite: @f returns (tensor<2xf32>), but (tensor<3xf32>) is stated (C4)
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.composite"(%a) <{decomposition = @f, name = "a.b"}> : (tensor<2xf32>) -> tensor<3xf32>
  return
}
