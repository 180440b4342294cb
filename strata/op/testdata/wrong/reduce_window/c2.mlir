// reduce_window/c2.mlir:3:10: reduce_window: inputs must have one shape, got tensor<4x4xf32> and tensor<4x5xf32> (C2)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x5xf32>, %c: tensor<f32>, %d: tensor<f32>) {
  %0:2 = "stablehlo.reduce_window"(%a, %b, %c, %d) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r, %r) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<4x4xf32>, tensor<4x5xf32>, tensor<f32>, tensor<f32>) -> (tensor<3x3xf32>, tensor<3x3xf32>)
  return
}
