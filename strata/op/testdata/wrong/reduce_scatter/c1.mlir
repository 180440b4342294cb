// reduce_scatter/c1.mlir:3:8: reduce_scatter: dimension 0 of tensor<3xf32> cannot be cut into 2 equal parts (C1)
func.func @main(%a: tensor<3xf32>) {
  %0 = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<3xf32>) -> tensor<2xf32>
  return
}
