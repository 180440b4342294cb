// not/c1.mlir:3:8: stablehlo.not: result 0 is tensor<3xi1>, but tensor<2xi1> is inferred (C1)
func.func @main(%a: tensor<2xi1>) {
  %0 = "stablehlo.not"(%a) : (tensor<2xi1>) -> tensor<3xi1>
  return
}
