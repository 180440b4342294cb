// reduce_window/c3.mlir:3:8: reduce_window: the initial value of tensor<4x4xf32> must be a scalar of its dtype, got tensor<f64> (C3)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<f64>) {
  %0 = "stablehlo.reduce_window"(%a, %b) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4x4xf32>, tensor<f64>) -> tensor<3x3xf32>
  return
}
