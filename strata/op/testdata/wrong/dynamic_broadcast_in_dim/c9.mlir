// dynamic_broadcast_in_dim/c9.mlir:3:8: dynamic_broadcast_in_dim: known_expanding_dimensions names dimension 1 of tensor<2xf32> (C9)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %b) <{broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64: 1>}> : (tensor<2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return
}
