// check.expect_serialized_eq/c1.mlir:6:3: expect_serialized_eq: probe 'wrong_c1' recorded tensor<3xf32>, expected tensor<2xf32> (C1)
func.func @main() {
  %a = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
  %b = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<3xf32>}> : () -> tensor<3xf32>
  %0 = "interpreter.probe"(%b) <{probe_id = "wrong_c1"}> : (tensor<3xf32>) -> tensor<3xf32>
  "check.expect_serialized_eq"(%a) <{probe_id = "wrong_c1"}> : (tensor<2xf32>) -> ()
  return
}
