// dynamic_broadcast_in_dim/i2.mlir:3:8: dynamic_broadcast_in_dim: output_dimensions must be integers of rank 1, got tensor<2xf32> (C7)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %b) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}
