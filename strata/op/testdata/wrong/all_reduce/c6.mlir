// all_reduce/c6.mlir:3:8: stablehlo.all_reduce: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C6, C7)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2xf32>) -> tensor<3xf32>
  return
}
