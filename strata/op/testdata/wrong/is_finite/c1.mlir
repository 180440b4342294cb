// is_finite/c1.mlir:3:8: stablehlo.is_finite: result 0 is tensor<3xi1>, but tensor<2xi1> is inferred (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.is_finite"(%a) : (tensor<2xf32>) -> tensor<3xi1>
  return
}
