// reduce_window/c15.mlir:3:8: stablehlo.reduce_window: result 0 is tensor<4x4xf32>, but tensor<3x3xf32> is inferred (C14, C15, C16)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a, %b) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
