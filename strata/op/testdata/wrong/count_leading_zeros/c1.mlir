// count_leading_zeros/c1.mlir:3:8: stablehlo.count_leading_zeros: result 0 is tensor<2xi8>, but tensor<2xi32> is inferred (C1)
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.count_leading_zeros"(%a) : (tensor<2xi32>) -> tensor<2xi8>
  return
}
