// select_and_scatter/c7.mlir:3:8: select_and_scatter: window_strides must be positive, got [0, 2] (C7)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<2x2xf32>, %c: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%a, %b, %c) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 0, 2>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%r) : (tensor<i1>) -> ()
  }, {
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
