// strata.custom_linear_solve/c2.mlir:3:8: custom_linear_solve: needs solve and matvec, and both of the transposed system or none, got 3 regions (C2)
func.func @main(%a: tensor<2xf32>, %p: tensor<2xf32>) {
  %0 = "strata.custom_linear_solve"(%a, %p) <{count = 1 : i64}> ({
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
