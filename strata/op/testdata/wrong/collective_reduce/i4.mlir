// collective_reduce/i4.mlir:3:8: attribute 'has_dynamic_root' of stablehlo.collective_reduce is 3 : i64, which is no boolean
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_reduce"(%a) <{has_dynamic_root = 3 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
