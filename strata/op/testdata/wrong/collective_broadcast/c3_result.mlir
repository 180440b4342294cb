// collective_broadcast/c3_result.mlir:3:8: stablehlo.collective_broadcast: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C3, C4, C5)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<3xf32>
  return
}
