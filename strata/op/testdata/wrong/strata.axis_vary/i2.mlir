// strata.axis_vary/i2.mlir:3:8: axis_vary: place must be a scalar i32, got tensor<2xi32> (I2)
func.func @main(%a: tensor<2x3xf32>, %p: tensor<2xi32>) {
  %0 = "strata.axis_vary"(%a, %p) <{axis = "i", axis_size = 2 : i64}> : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return
}
