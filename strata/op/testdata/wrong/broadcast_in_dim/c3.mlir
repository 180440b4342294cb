// broadcast_in_dim/c3.mlir:3:8: broadcast_in_dim: broadcast_dimensions[0] = 2 is outside of the result tensor<2x3xf32> (C3)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}
