// slice/c3.mlir:3:8: slice: [0, 5) is no range within dimension 0 of tensor<4xf32> (C3)
func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%a) <{limit_indices = array<i64: 5>, start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2xf32>
  return
}
