// reduce_scatter/i4.mlir:3:8: attribute 'channel_handle' of stablehlo.reduce_scatter is "wrong", which is no #stablehlo.channel_handle
func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%a) <{channel_handle = "wrong", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return
}
