// if/i1.mlir:3:8: if: the operand must be tensor<i1>, got tensor<i32> (I1)
func.func @main(%a: tensor<i32>) {
  %0 = "stablehlo.if"(%a) ({
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }, {
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }) : (tensor<i32>) -> tensor<2xf32>
  return
}
