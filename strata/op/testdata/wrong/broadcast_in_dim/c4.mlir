// broadcast_in_dim/c4.mlir:3:8: broadcast_in_dim: broadcast_dimensions names dimension 0 twice (C4)
func.func @main(%a: tensor<2x2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0, 0>}> : (tensor<2x2xf32>) -> tensor<2x3xf32>
  return
}
