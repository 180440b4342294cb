// cbrt/c1.mlir:3:8: stablehlo.cbrt: (C1) result 0 is tensor<3xf32>, but tensor<2xf32> is inferred
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.cbrt"(%a) : (tensor<2xf32>) -> tensor<3xf32>
  return
}
