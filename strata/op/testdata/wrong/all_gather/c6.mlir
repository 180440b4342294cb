// all_gather/c6.mlir:3:8: all_gather: tensor<2xf32> cannot be gathered to tensor<6xf32> (C6)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<6xf32>
  return
}
