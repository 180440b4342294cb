// dynamic_update_slice/i3.mlir:3:8: dynamic_update_slice: start indices must be scalars of an integer dtype, got tensor<f32> (I3)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<2x4xf32>, %c: tensor<f32>, %d: tensor<i32>) {
  %0 = "stablehlo.dynamic_update_slice"(%a, %b, %c, %d) : (tensor<4x4xf32>, tensor<2x4xf32>, tensor<f32>, tensor<i32>) -> tensor<4x4xf32>
  return
}
