// slice/c1.mlir:3:8: stablehlo.slice: result 0 is tensor<2xf64>, but tensor<2xf32> is inferred (C1, C5)
func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%a) <{limit_indices = array<i64: 4>, start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2xf64>
  return
}
