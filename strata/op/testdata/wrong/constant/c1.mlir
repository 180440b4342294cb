// constant/c1.mlir:3:8: stablehlo.constant: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C1)
func.func @main() {
  %0 = "stablehlo.constant"() <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}> : () -> tensor<3xf32>
  return
}
