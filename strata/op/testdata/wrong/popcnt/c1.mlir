// popcnt/c1.mlir:3:8: stablehlo.popcnt: result 0 is tensor<2xi8>, but tensor<2xi32> is inferred (C1)
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.popcnt"(%a) : (tensor<2xi32>) -> tensor<2xi8>
  return
}
