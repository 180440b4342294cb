// reduce_precision/i2.mlir:3:8: stablehlo.reduce_precision requires attribute 'exponent_bits'
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.reduce_precision"(%a) <{mantissa_bits = 2 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
