// concatenate/c4.mlir:3:8: concatenate: dimension 2 is outside of tensor<2x3xf32> (C4)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) {
  %0 = "stablehlo.concatenate"(%a, %b) <{dimension = 2 : i64}> : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  return
}
