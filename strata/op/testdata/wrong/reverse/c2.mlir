// reverse/c2.mlir:3:8: reverse: dimension 1 of tensor<2x3xf32> is named twice (C2)
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.reverse"(%a) <{dimensions = array<i64: 1, 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
