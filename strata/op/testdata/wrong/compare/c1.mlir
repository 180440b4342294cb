// compare/c1.mlir:3:8: compare: operands must have one element type, got tensor<2xf32> and tensor<2xf64> (C1)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf64>) {
  %0 = "stablehlo.compare"(%a, %b) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xi1>
  return
}
