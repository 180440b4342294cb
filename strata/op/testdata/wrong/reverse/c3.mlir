// reverse/c3.mlir:3:8: reverse: (C3) dimension 2 is outside of tensor<2x3xf32>
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.reverse"(%a) <{dimensions = array<i64: 2>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
