// collective_reduce/c4.mlir:3:8: collective_reduce: tensor<2xf32> cannot be promoted to the computation's tensor<i32> (C4)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%r) : (tensor<i32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
