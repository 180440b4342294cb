// collective_reduce/i3.mlir:3:8: attribute 'channel_handle' of stablehlo.collective_reduce is "wrong", which is no #stablehlo.channel_handle
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_reduce"(%a) <{channel_handle = "wrong", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
