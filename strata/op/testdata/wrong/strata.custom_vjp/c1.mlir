// strata.custom_vjp/c1.mlir:3:8: custom_vjp: fwd returns 2 values, needs 1 results and 2 residuals (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "strata.custom_vjp"(%a) <{differentiable = array<i64: 0>, num_residuals = 2 : i64}> ({
    ^bb0(%x: tensor<2xf32>):
      "stablehlo.return"(%x) : (tensor<2xf32>) -> ()
  }, {
    ^bb0(%x: tensor<2xf32>):
      "stablehlo.return"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }, {
    ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):
      "stablehlo.return"(%y) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
