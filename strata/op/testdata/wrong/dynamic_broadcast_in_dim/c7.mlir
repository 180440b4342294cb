// dynamic_broadcast_in_dim/c7.mlir:3:8: dynamic_broadcast_in_dim: output_dimensions must have 2 entries, got tensor<1xi32> (C7)
func.func @main(%a: tensor<2xf32>, %b: tensor<1xi32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %b) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>, tensor<1xi32>) -> tensor<2x3xf32>
  return
}
