// if/c2.mlir:3:8: if: result 0 is tensor<2xf32> in branch 0 and tensor<3xf32> in branch 1 (C2)
func.func @main(%a: tensor<i1>) {
  %0 = "stablehlo.if"(%a) ({
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }, {
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<3xf32>}> : () -> tensor<3xf32>
    "stablehlo.return"(%k) : (tensor<3xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}
