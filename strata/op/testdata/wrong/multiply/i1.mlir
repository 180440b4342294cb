// multiply/i1.mlir:3:8: multiply: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<2xf32>) {
  %0 = "stablehlo.multiply"(%a, %b) : (!stablehlo.token, tensor<2xf32>) -> tensor<2xf32>
  return
}
