// reduce_scatter/c5.mlir:3:8: reduce_scatter: replica_groups holds -2 (C5)
func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return
}
