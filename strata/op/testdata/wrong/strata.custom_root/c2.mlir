// strata.custom_root/c2.mlir:3:8: custom_root: a guess is tensor<2xi32> (C2)
func.func @main(%a: tensor<2xi32>, %p: tensor<2xi32>) {
  %0 = "strata.custom_root"(%a, %p) <{count = 1 : i64}> ({
    ^bb0(%x: tensor<2xi32>, %q: tensor<2xi32>):
      "stablehlo.return"(%x) : (tensor<2xi32>) -> ()
  }, {
    ^bb0(%x: tensor<2xi32>, %q: tensor<2xi32>):
      "stablehlo.return"(%x) : (tensor<2xi32>) -> ()
  }, {
    ^bb0(%x: tensor<2xi32>, %y: tensor<2xi32>, %q: tensor<2xi32>):
      "stablehlo.return"(%y) : (tensor<2xi32>) -> ()
  }) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return
}
