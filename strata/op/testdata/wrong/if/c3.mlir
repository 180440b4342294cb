// if/c3.mlir:3:8: stablehlo.if: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C3)
func.func @main(%a: tensor<i1>) {
  %0 = "stablehlo.if"(%a) ({
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }, {
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<3xf32>
  return
}
