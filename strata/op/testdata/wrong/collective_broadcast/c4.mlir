// collective_broadcast/c4.mlir:3:8: collective_broadcast: has_dynamic_root needs an operand and its root, got 1 (C4)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_broadcast"(%a) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
