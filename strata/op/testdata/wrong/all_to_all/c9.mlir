// all_to_all/c9.mlir:3:8: stablehlo.all_to_all: result 0 is tensor<2x2xf32>, but tensor<1x4xf32> is inferred (C9)
func.func @main(%a: tensor<2x2xf32>) {
  %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
