// atan2/c1_result.mlir:3:8: stablehlo.atan2: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C1)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.atan2"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}
