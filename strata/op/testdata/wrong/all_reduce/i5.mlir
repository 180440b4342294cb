// all_reduce/i5.mlir:3:8: stablehlo.all_reduce has 0 regions
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
