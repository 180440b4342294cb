// select_and_scatter/i7.mlir:3:8: select_and_scatter has 0 regions
func.func @main(%a: tensor<4x4xf32>, %b: tensor<2x2xf32>, %c: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%a, %b, %c) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
