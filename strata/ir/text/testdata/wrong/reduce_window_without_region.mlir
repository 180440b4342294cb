// reduce_window_without_region.mlir:3:8: stablehlo.reduce_window has 0 regions
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1>}> : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
