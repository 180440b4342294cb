// dynamic_slice/i2.mlir:3:8: dynamic_slice: start indices must be scalars of an integer dtype, got tensor<f32> (I2)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<f32>, %c: tensor<i32>) {
  %0 = "stablehlo.dynamic_slice"(%a, %b, %c) <{slice_sizes = array<i64: 2, 4>}> : (tensor<4x4xf32>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  return
}
