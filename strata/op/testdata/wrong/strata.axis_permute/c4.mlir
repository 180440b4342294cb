// strata.axis_permute/c4.mlir:3:8: axis_permute: source_target_pairs holds -1 (C4)
func.func @main(%a: tensor<2x3xf32>, %p: tensor<i32>) {
  %0 = "strata.axis_permute"(%a, %p) <{axis = "i", axis_size = 3 : i64, source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}
