// slice/c4.mlir:3:8: slice: stride 0 of dimension 0 is not positive (C4)
func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%a) <{limit_indices = array<i64: 4>, start_indices = array<i64: 0>, strides = array<i64: 0>}> : (tensor<4xf32>) -> tensor<2xf32>
  return
}
