// strata.custom_root/c1.mlir:3:8: custom_root: arguments of tangent_solve: 2 for 3 (C1)
func.func @main(%a: tensor<2xf32>, %p: tensor<2xf32>) {
  %0 = "strata.custom_root"(%a, %p) <{count = 1 : i64}> ({
    ^bb0(%x: tensor<2xf32>, %q: tensor<2xf32>):
      "stablehlo.return"(%x) : (tensor<2xf32>) -> ()
  }, {
    ^bb0(%x: tensor<2xf32>, %q: tensor<2xf32>):
      "stablehlo.return"(%x) : (tensor<2xf32>) -> ()
  }, {
    ^bb0(%x: tensor<2xf32>, %q: tensor<2xf32>):
      "stablehlo.return"(%x) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
