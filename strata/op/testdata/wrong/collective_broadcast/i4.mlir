// collective_broadcast/i4.mlir:3:8: attribute 'has_dynamic_root' of stablehlo.collective_broadcast is 3 : i64, which is no boolean
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_broadcast"(%a) <{has_dynamic_root = 3 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
