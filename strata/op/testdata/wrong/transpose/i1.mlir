// transpose/i1.mlir:3:8: transpose: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token) {
  %0 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (!stablehlo.token) -> tensor<3x2xf32>
  return
}
