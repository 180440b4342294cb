// transpose/c2_length.mlir:3:8: transpose: permutation has 1 entries for an array of rank 2 (C2)
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%a) <{permutation = array<i64: 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
