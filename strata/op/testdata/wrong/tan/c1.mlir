// tan/c1.mlir:3:8: stablehlo.tan: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.tan"(%a) : (tensor<2xf32>) -> tensor<3xf32>
  return
}
