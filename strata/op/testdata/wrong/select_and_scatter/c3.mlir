// select_and_scatter/c3.mlir:3:8: select_and_scatter: the initial value of tensor<4x4xf32> must be a scalar of its dtype, got tensor<f64> (C3)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<2x2xf32>, %c: tensor<f64>) {
  %0 = "stablehlo.select_and_scatter"(%a, %b, %c) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%r) : (tensor<i1>) -> ()
  }, {
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f64>) -> tensor<4x4xf32>
  return
}
