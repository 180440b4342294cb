// broadcast_in_dim/c2.mlir:3:8: broadcast_in_dim: broadcast_dimensions has 0 entries for an array of rank 1 (C2)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64>}> : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}
