// while/c1.mlir:3:8: while: the condition must return one scalar i1, got tensor<2xf32> (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.while"(%a) ({
    ^bb0(%x: tensor<2xf32>):
      %k = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
      "stablehlo.return"(%x) : (tensor<2xf32>) -> ()
  }, {
    ^bb0(%x: tensor<2xf32>):
      %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
      "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
