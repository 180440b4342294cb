// collective_reduce/c3_root.mlir:3:8: collective_reduce: roots must be tensor<1xi32>, got tensor<1xf32> (C3)
func.func @main(%a: tensor<2xf32>, %b: tensor<1xf32>) {
  %0 = "stablehlo.collective_reduce"(%a, %b) <{has_dynamic_root = true, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}
