// strata.custom_jvp/c1.mlir:3:8: custom_jvp: arguments of the jvp (primals, tangents): 1 for 2 (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "strata.custom_jvp"(%a) ({
    ^bb0(%x: tensor<2xf32>):
      "stablehlo.return"(%x) : (tensor<2xf32>) -> ()
  }, {
    ^bb0(%x: tensor<2xf32>):
      "stablehlo.return"(%x) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
