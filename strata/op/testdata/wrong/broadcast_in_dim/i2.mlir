// broadcast_in_dim/i2.mlir:3:8: stablehlo.broadcast_in_dim requires attribute 'broadcast_dimensions'
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%a) : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}
