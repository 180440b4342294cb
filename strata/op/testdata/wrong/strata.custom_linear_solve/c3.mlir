// strata.custom_linear_solve/c3.mlir:3:8: custom_linear_solve: a right-hand side is tensor<2xi32> (C3)
func.func @main(%a: tensor<2xi32>, %p: tensor<2xi32>) {
  %0 = "strata.custom_linear_solve"(%a, %p) <{count = 1 : i64}> ({
    ^bb0(%x: tensor<2xi32>, %q: tensor<2xi32>):
      "stablehlo.return"(%x) : (tensor<2xi32>) -> ()
  }, {
    ^bb0(%x: tensor<2xi32>, %q: tensor<2xi32>):
      "stablehlo.return"(%x) : (tensor<2xi32>) -> ()
  }) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return
}
