// check.expect_serialized_eq/c3.mlir:4:3: expect_serialized_eq: probe 'nowhere' recorded 0 values, none for iteration 0 (C3)
func.func @main() {
  %a = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
  "check.expect_serialized_eq"(%a) <{probe_id = "nowhere"}> : (tensor<2xf32>) -> ()
  return
}
