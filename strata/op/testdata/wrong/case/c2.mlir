// case/c2.mlir:3:8: case: branch 1 has 1 arguments, it may have none (C2)
func.func @main(%a: tensor<i32>) {
  %0 = "stablehlo.case"(%a) ({
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }, {
    ^bb0(%x: tensor<f32>):
    %k = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    "stablehlo.return"(%k) : (tensor<2xf32>) -> ()
  }) : (tensor<i32>) -> tensor<2xf32>
  return
}
