// broadcast_in_dim/i1.mlir:3:8: broadcast_in_dim: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token) {
  %0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0>}> : (!stablehlo.token) -> tensor<2x3xf32>
  return
}
