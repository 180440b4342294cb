// broadcast_in_dim/c5.mlir:3:8: broadcast_in_dim: dimension 0 of tensor<2xf32> fits neither 1 nor dimension 1 of tensor<2x3xf32> (C5)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}
