// broadcast_in_dim/c6.mlir:3:8: broadcast_in_dim: tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>> and tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>> do not go together (C6)
func.func @main(%a: tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) {
  %0 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>>
  return
}
