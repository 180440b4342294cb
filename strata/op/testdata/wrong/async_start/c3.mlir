// async_start/c3.mlir:3:8: async_start: stablehlo.all_gather works on other values than the operands (C3)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.async_start"(%a, %b) ({
    ^bb0(%x: tensor<2xf32>):
      %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
      "stablehlo.return"(%y) : (tensor<4xf32>) -> ()
  }) : (tensor<2xf32>, tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}
