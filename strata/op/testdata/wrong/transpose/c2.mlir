// transpose/c2.mlir:3:8: transpose: permutation [0, 0] is none of the dimensions of tensor<2x3xf32> (C2)
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%a) <{permutation = array<i64: 0, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
