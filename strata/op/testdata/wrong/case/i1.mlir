// case/i1.mlir:3:8: case: the operand must be tensor<i32>, got tensor<i64> (I1)
func.func @main(%a: tensor<i64>) {
  %0 = "stablehlo.case"(%a) ({
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }, {
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }) : (tensor<i64>) -> tensor<2xf32>
  return
}
