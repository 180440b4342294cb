// all_to_all/c8.mlir:3:8: all_to_all: split_count is 1, but groups have 2 processes (C8)
func.func @main(%a: tensor<2x2xf32>) {
  %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 1 : i64, split_dimension = 0 : i64}> : (tensor<2x2xf32>) -> tensor<1x4xf32>
  return
}
