// while/i2.mlir:3:8: while has 1 regions
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.while"(%a) ({
    ^bb0(%x: tensor<2xf32>):
      %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
      "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
