// reduce_scatter/c7.mlir:3:8: reduce_scatter: tensor<4xf32> cannot be promoted to the computation's tensor<i32> (C7)
func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%r) : (tensor<i32>) -> ()
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return
}
