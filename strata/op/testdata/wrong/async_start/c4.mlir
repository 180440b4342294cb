// async_start/c4.mlir:3:8: stablehlo.async_start: result 0 is !stablehlo.future<tensor<2xf32>>, but !stablehlo.future<tensor<4xf32>> is inferred (C4)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.async_start"(%a) ({
    ^bb0(%x: tensor<2xf32>):
      %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
      "stablehlo.return"(%y) : (tensor<4xf32>) -> ()
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  return
}
