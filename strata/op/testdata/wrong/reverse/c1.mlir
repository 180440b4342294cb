// reverse/c1.mlir:3:8: stablehlo.reverse: result 0 is tensor<3x2xf32>, but tensor<2x3xf32> is inferred (C1)
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.reverse"(%a) <{dimensions = array<i64: 1>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
