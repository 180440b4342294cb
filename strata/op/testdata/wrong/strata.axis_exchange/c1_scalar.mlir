// strata.axis_exchange/c1_scalar.mlir:3:8: axis_exchange: the first dimension of tensor<f32> must be the axis's, which has 3 places (C1)
func.func @main(%a: tensor<f32>, %p: tensor<i32>) {
  %0 = "strata.axis_exchange"(%a, %p) <{axis = "i", axis_size = 3 : i64}> : (tensor<f32>, tensor<i32>) -> tensor<f32>
  return
}
