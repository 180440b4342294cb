// strata.composite/c2.mlir:3:8: composite: arguments of the decomposition 0: tensor<3xf32> for tensor<2xf32> (C2)
func.func @main(%a: tensor<2xf32>) {
  %0 = "strata.composite"(%a) <{composite_attributes = {}, name = "my.name", version = 0 : i64}> ({
    ^bb0(%x: tensor<3xf32>):
      "stablehlo.return"(%x) : (tensor<3xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<3xf32>
  return
}
