// reverse/c3.mlir:3:8: reverse: dimension 2 is outside of tensor<2x3xf32> (C3)
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.reverse"(%a) <{dimensions = array<i64: 2>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
