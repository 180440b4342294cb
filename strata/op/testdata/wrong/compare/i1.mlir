// compare/i1.mlir:3:8: compare: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<2xf32>) {
  %0 = "stablehlo.compare"(%a, %b) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (!stablehlo.token, tensor<2xf32>) -> tensor<2xi1>
  return
}
