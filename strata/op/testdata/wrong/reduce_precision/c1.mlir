// reduce_precision/c1.mlir:3:8: stablehlo.reduce_precision: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.reduce_precision"(%a) <{exponent_bits = 5 : i32, mantissa_bits = 2 : i32}> : (tensor<2xf32>) -> tensor<3xf32>
  return
}
