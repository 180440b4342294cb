// dynamic_broadcast_in_dim/c1_quantized.mlir:3:8: dynamic_broadcast_in_dim: the result has the operand's element type, got tensor<2xi8> and tensor<2x3xi16> (C1)
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>, %b: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %b) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<2xi32>) -> tensor<2x3x!quant.uniform<i16:f32, 5.000000e-01>>
  return
}
