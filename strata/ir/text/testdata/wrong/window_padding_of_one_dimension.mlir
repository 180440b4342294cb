// window_padding_of_one_dimension.mlir:3:8: attribute 'padding' of stablehlo.reduce_window is dense<0> : tensor<2xi64>, which is no tensor<?x2xi64>
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a, %z) <{padding = dense<0> : tensor<2xi64>, window_dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
