// case/c3.mlir:3:8: case: result 0 is tensor<2xf32> in branch 0 and tensor<3xf32> in branch 1 (C3)
func.func @main(%a: tensor<i32>) {
  %0 = "stablehlo.case"(%a) ({
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }, {
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<3xf32>}> : () -> tensor<3xf32>
    "stablehlo.return"(%k) : (tensor<3xf32>) -> ()
  }) : (tensor<i32>) -> tensor<2xf32>
  return
}
