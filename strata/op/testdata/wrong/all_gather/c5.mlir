// all_gather/c5.mlir:3:8: all_gather: use_global_device_ids needs a positive channel, got 0 (C5)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
  return
}
