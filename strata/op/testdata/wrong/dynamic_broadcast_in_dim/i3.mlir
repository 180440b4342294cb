// dynamic_broadcast_in_dim/i3.mlir:3:8: stablehlo.dynamic_broadcast_in_dim requires attribute 'broadcast_dimensions'
func.func @main(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %b) : (tensor<2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return
}
