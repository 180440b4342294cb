// all_to_all/i1.mlir:3:8: all_to_all: operands must be tensors, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token) {
  %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (!stablehlo.token) -> tensor<1x4xf32>
  return
}
