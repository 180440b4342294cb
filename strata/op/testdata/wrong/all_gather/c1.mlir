// all_gather/c1.mlir:3:8: all_gather: all_gather_dim 1 is no dimension of tensor<2xf32> (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  return
}
