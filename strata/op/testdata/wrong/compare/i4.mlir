// compare/i4.mlir:3:8: attribute 'compare_type' of stablehlo.compare is 3 : i64, which is none of NOTYPE FLOAT TOTALORDER SIGNED UNSIGNED
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.compare"(%a, %b) <{compare_type = 3 : i64, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}
