// transpose/c3.mlir:3:8: stablehlo.transpose: result 0 is tensor<2x3xf32>, but tensor<3x2xf32> is inferred (C1, C3)
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
