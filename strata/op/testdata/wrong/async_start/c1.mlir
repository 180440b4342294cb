// async_start/c1.mlir:3:8: async_start: the region must hold one operation, got 2 (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.async_start"(%a) ({
    ^bb0(%x: tensor<2xf32>):
      %z = "stablehlo.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
      "stablehlo.return"(%y) : (tensor<4xf32>) -> ()
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}
