// reduce_scatter/i6.mlir:3:8: stablehlo.reduce_scatter has 0 regions
func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<2xf32>
  return
}
