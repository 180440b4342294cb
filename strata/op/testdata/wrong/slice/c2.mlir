// slice/c2.mlir:3:8: slice: start_indices has 2 entries for an array of rank 1 (C2)
func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%a) <{limit_indices = array<i64: 4>, start_indices = array<i64: 0, 0>, strides = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2xf32>
  return
}
