// concatenate/c6.mlir:3:8: stablehlo.concatenate: result 0 is tensor<4x3xf32>, but tensor<3x3xf32> is inferred (C5, C6)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) {
  %0 = "stablehlo.concatenate"(%a, %b) <{dimension = 0 : i64}> : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  return
}
