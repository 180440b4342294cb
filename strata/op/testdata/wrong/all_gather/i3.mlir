// all_gather/i3.mlir:3:8: all_gather: attribute replica_groups is missing
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64}> : (tensor<2xf32>) -> tensor<4xf32>
  return
}
