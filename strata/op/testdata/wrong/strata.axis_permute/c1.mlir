// strata.axis_permute/c1.mlir:3:8: axis_permute: source_target_pairs must be pairs, got tensor<1x3xi64> (C1)
func.func @main(%a: tensor<2x3xf32>, %p: tensor<i32>) {
  %0 = "strata.axis_permute"(%a, %p) <{axis = "i", axis_size = 3 : i64, source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}
