// select/c2_result.mlir:3:8: stablehlo.select: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C2)
func.func @main(%a: tensor<2xi1>, %b: tensor<2xf32>, %c: tensor<2xf32>) {
  %0 = "stablehlo.select"(%a, %b, %c) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}
