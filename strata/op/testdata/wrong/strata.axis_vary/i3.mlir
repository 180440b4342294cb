// strata.axis_vary/i3.mlir:3:8: axis_vary: axis_size must not be negative, got -1 (I3)
func.func @main(%a: tensor<2x3xf32>, %p: tensor<i32>) {
  %0 = "strata.axis_vary"(%a, %p) <{axis = "i", axis_size = -1 : i64}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}
