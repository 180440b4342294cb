// set_dimension_size/i2.mlir:3:8: set_dimension_size: the size is tensor<i32>, got tensor<f32> (I2)
func.func @main(%a: tensor<4xf32>, %b: tensor<f32>) {
  %0 = "stablehlo.set_dimension_size"(%a, %b) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<f32>) -> tensor<?xf32>
  return
}
