// dynamic_pad/c1_quantized.mlir:3:8: dynamic_pad: the padding value must be a scalar of the operand's type, got tensor<i16> and tensor<3xi8> (C1)
func.func @main(%a: tensor<3x!quant.uniform<i8:f32, 5.000000e-01>>, %b: tensor<!quant.uniform<i16:f32, 5.000000e-01>>, %c: tensor<1xi32>, %d: tensor<1xi32>, %e: tensor<1xi32>) {
  %0 = "stablehlo.dynamic_pad"(%a, %b, %c, %d, %e) : (tensor<3x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<!quant.uniform<i16:f32, 5.000000e-01>>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<5x!quant.uniform<i8:f32, 5.000000e-01>>
  return
}
