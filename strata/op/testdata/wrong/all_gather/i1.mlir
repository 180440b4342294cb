// all_gather/i1.mlir:3:8: all_gather: operands must be tensors, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> tensor<4xf32>
  return
}
