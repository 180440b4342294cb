// dynamic_reshape/i1.mlir:3:8: dynamic_reshape: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<1xi32>) {
  %0 = "stablehlo.dynamic_reshape"(%a, %b) : (!stablehlo.token, tensor<1xi32>) -> tensor<6xf32>
  return
}
