// strata.axis_permute/c3.mlir:3:8: axis_permute: 1 is the target of two source_target_pairs (C3)
func.func @main(%a: tensor<2x3xf32>, %p: tensor<i32>) {
  %0 = "strata.axis_permute"(%a, %p) <{axis = "i", axis_size = 3 : i64, source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}
