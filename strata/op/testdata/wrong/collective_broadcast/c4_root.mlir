// collective_broadcast/c4_root.mlir:3:8: collective_broadcast: roots must be tensor<1xi32>, got tensor<1xf32> (C4)
func.func @main(%a: tensor<2xf32>, %b: tensor<1xf32>) {
  %0 = "stablehlo.collective_broadcast"(%a, %b) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}
