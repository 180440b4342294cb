// select/i3.mlir:3:8: select: operands must be arrays, got !stablehlo.token (I3)
func.func @main(%a: tensor<2xi1>, %b: tensor<2xf32>, %c: !stablehlo.token) {
  %0 = "stablehlo.select"(%a, %b, %c) : (tensor<2xi1>, tensor<2xf32>, !stablehlo.token) -> tensor<2xf32>
  return
}
