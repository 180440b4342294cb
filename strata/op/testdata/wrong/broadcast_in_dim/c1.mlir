// broadcast_in_dim/c1.mlir:3:8: broadcast_in_dim: result dtype f64 differs from the operand's f32 (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x3xf64>
  return
}
