// broadcast_in_dim/c1_quantized.mlir:3:8: broadcast_in_dim: result dtype i16 differs from the operand's i8 (C1)
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) {
  %0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x3x!quant.uniform<i16:f32, 5.000000e-01>>
  return
}
