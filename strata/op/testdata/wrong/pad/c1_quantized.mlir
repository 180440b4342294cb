// pad/c1_quantized.mlir:3:8: pad: padding value of tensor<3xi8> must be a scalar of its dtype, got tensor<i16> (C1)
func.func @main(%a: tensor<3x!quant.uniform<i8:f32, 5.000000e-01>>, %b: tensor<!quant.uniform<i16:f32, 5.000000e-01>>) {
  %0 = "stablehlo.pad"(%a, %b) <{edge_padding_high = array<i64: 1>, edge_padding_low = array<i64: 1>, interior_padding = array<i64: 0>}> : (tensor<3x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<!quant.uniform<i16:f32, 5.000000e-01>>) -> tensor<5x!quant.uniform<i8:f32, 5.000000e-01>>
  return
}
