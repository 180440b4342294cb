// reduce_precision/i3.mlir:3:8: stablehlo.reduce_precision requires attribute 'mantissa_bits'
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.reduce_precision"(%a) <{exponent_bits = 5 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
