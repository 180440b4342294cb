// collective_broadcast/i1.mlir:3:8: collective_broadcast: operands must be tensors, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token) {
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> tensor<2xf32>
  return
}
