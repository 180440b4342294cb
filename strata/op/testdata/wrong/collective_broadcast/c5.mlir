// collective_broadcast/c5.mlir:3:10: stablehlo.collective_broadcast: has 2 results, but 1 are inferred (C3, C4, C5)
func.func @main(%a: tensor<2xf32>) {
  %0:2 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}
