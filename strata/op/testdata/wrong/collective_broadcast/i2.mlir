// collective_broadcast/i2.mlir:3:8: collective_broadcast: attribute replica_groups is missing
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_broadcast"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
