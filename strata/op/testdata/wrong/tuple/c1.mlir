// tuple/c1.mlir:3:8: stablehlo.tuple: result 0 is tuple<tensor<2xf32>, tensor<2xf32>>, but tuple<tensor<2xf32>, tensor<3xf32>> is inferred (C1)
func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  %0 = "stablehlo.tuple"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  return
}
