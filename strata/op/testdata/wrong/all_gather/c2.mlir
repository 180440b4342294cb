// all_gather/c2.mlir:3:8: all_gather: replica_groups holds 0 twice (C2)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  return
}
