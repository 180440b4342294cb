// strata.composite/c1.mlir:3:8: composite: the name plain has no dialect (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "strata.composite"(%a) <{composite_attributes = {}, name = "plain", version = 0 : i64}> ({
    ^bb0(%x: tensor<2xf32>):
      "stablehlo.return"(%x) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
