// reduce_precision/i1.mlir:3:8: reduce_precision: takes floats, got tensor<2xi32> (I1)
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.reduce_precision"(%a) <{exponent_bits = 5 : i32, mantissa_bits = 2 : i32}> : (tensor<2xi32>) -> tensor<2xi32>
  return
}
