// all_to_all/c2.mlir:3:8: all_to_all: dimension 0 of tensor<3x2xf32> cannot be cut into 2 equal parts (C2)
func.func @main(%a: tensor<3x2xf32>) {
  %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<3x2xf32>) -> tensor<1x4xf32>
  return
}
