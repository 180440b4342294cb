// strata.axis_exchange/c1.mlir:3:8: axis_exchange: the first dimension of tensor<2x3xf32> must be the axis's, which has 3 places (C1)
func.func @main(%a: tensor<2x3xf32>, %p: tensor<i32>) {
  %0 = "strata.axis_exchange"(%a, %p) <{axis = "i", axis_size = 3 : i64}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}
