// add/i1.mlir:3:8: add: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<2xf32>) {
  %0 = "stablehlo.add"(%a, %b) : (!stablehlo.token, tensor<2xf32>) -> tensor<2xf32>
  return
}
