// complex_that_is_real.mlir:3:35: tensor<2xf32> is no complex tensor
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.complex %a, %a : tensor<2xf32>
  return
}
