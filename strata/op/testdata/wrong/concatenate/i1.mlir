// concatenate/i1.mlir:3:8: concatenate: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: tensor<2x3xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.concatenate"(%a, %b) <{dimension = 0 : i64}> : (tensor<2x3xf32>, !stablehlo.token) -> tensor<3x3xf32>
  return
}
