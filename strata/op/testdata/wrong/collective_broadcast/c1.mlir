// collective_broadcast/c1.mlir:3:8: collective_broadcast: replica_groups holds 0 twice (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
