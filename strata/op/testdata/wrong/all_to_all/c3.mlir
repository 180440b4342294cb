// all_to_all/c3.mlir:3:8: all_to_all: concat_dimension 2 is no dimension of tensor<2x2xf32> (C3)
func.func @main(%a: tensor<2x2xf32>) {
  %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x2xf32>) -> tensor<1x4xf32>
  return
}
