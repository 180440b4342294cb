// all_gather/i5.mlir:3:8: attribute 'use_global_device_ids' of stablehlo.all_gather is 3 : i64, which is no boolean
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{use_global_device_ids = 3 : i64, all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  return
}
