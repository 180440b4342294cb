// dynamic_broadcast_in_dim/c1.mlir:3:8: dynamic_broadcast_in_dim: the result has the operand's element type, got tensor<2xf32> and tensor<2x3xf64> (C1)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %b) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>, tensor<2xi32>) -> tensor<2x3xf64>
  return
}
