// reduce_precision/c3.mlir:3:8: reduce_precision: mantissa_bits must be at least 0, got -1 (C3)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.reduce_precision"(%a) <{exponent_bits = 5 : i32, mantissa_bits = -1 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
