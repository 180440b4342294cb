// strata.axis_exchange/i3.mlir:3:8: axis_exchange: axis_size must not be negative, got -1 (I3)
func.func @main(%a: tensor<2x3xf32>, %p: tensor<i32>) {
  %0 = "strata.axis_exchange"(%a, %p) <{axis = "i", axis_size = -1 : i64}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}
