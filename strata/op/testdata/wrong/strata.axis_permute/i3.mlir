// strata.axis_permute/i3.mlir:3:8: axis_permute: axis_size must not be negative, got -1 (I3)
func.func @main(%a: tensor<2x3xf32>, %p: tensor<i32>) {
  %0 = "strata.axis_permute"(%a, %p) <{axis = "i", axis_size = -1 : i64, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}
