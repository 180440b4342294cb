// reduce_window/c13.mlir:3:8: reduce_window: elements of f32 cannot be combined in i32 (C13)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a, %b) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%r) : (tensor<i32>) -> ()
  }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
