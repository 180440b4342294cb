// dynamic_broadcast_in_dim/i5.mlir:3:8: stablehlo.dynamic_broadcast_in_dim: is malformed (attribute 'known_nonexpanding_dimensions' has another kind)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %b) <{known_nonexpanding_dimensions = "wrong", broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return
}
