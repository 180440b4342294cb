// compare/i2.mlir:3:8: compare: operands must be arrays, got !stablehlo.token (I2)
func.func @main(%a: tensor<2xf32>, %b: !stablehlo.token) {
  %0 = "stablehlo.compare"(%a, %b) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2xf32>, !stablehlo.token) -> tensor<2xi1>
  return
}
