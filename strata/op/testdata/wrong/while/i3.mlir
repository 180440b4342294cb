// while/i3.mlir:3:8: while has 1 regions
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.while"(%a) ({
    ^bb0(%x: tensor<2xf32>):
      %k = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
      "stablehlo.return"(%k) : (tensor<i1>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
