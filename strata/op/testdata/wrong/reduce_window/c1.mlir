// reduce_window/c1.mlir:3:8: reduce_window: expected inputs and as many initial values, got 1 operands (C1)
func.func @main(%a: tensor<4x4xf32>) {
  %0 = "stablehlo.reduce_window"(%a) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4x4xf32>) -> tensor<3x3xf32>
  return
}
