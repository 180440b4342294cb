// dynamic_broadcast_in_dim/i1.mlir:3:8: dynamic_broadcast_in_dim: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %b) <{broadcast_dimensions = array<i64: 0>}> : (!stablehlo.token, tensor<2xi32>) -> tensor<2x3xf32>
  return
}
