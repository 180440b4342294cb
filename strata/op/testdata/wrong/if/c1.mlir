// if/c1.mlir:3:8: if: branch 1 has 1 arguments, it may have none (C1)
func.func @main(%a: tensor<i1>) {
  %0 = "stablehlo.if"(%a) ({
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }, {
    ^bb0(%x: tensor<f32>):
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}
