// compare/c2.mlir:3:8: compare: operands must have one shape, got tensor<2xf32> and tensor<3xf32> (C2)
func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  %0 = "stablehlo.compare"(%a, %b) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xi1>
  return
}
