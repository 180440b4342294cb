// constant_that_does_not_fit.mlir:3:33: '300' is no value of i8
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<300> : tensor<i8>
  return
}
