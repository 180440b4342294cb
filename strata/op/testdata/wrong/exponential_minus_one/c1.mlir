// exponential_minus_one/c1.mlir:3:8: stablehlo.exponential_minus_one: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.exponential_minus_one"(%a) : (tensor<2xf32>) -> tensor<3xf32>
  return
}
