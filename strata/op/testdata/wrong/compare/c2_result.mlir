// compare/c2_result.mlir:3:8: stablehlo.compare: result 0 is tensor<3xi1>, but tensor<2xi1> is inferred (C2)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.compare"(%a, %b) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xi1>
  return
}
