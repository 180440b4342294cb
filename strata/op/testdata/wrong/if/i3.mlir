// if/i3.mlir:3:8: if: needs two branches, got 1
func.func @main(%a: tensor<i1>) {
  %0 = "stablehlo.if"(%a) ({
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}
