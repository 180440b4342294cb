// strata.custom_vjp/c2.mlir:3:8: custom_vjp: operand 1 cannot have a cotangent (C2)
func.func @main(%a: tensor<2xf32>) {
  %0 = "strata.custom_vjp"(%a) <{differentiable = array<i64: 1>, num_residuals = 1 : i64}> ({
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
