// all_to_all/i5.mlir:3:8: all_to_all: attribute replica_groups is missing
func.func @main(%a: tensor<2x2xf32>) {
  %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 1 : i64, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x2xf32>) -> tensor<1x4xf32>
  return
}
