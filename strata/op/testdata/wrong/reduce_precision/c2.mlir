// reduce_precision/c2.mlir:3:8: reduce_precision: exponent_bits must be at least 1, got 0 (C2)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.reduce_precision"(%a) <{exponent_bits = 0 : i32, mantissa_bits = 2 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
