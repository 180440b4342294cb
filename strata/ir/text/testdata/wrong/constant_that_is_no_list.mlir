// constant_that_is_no_list.mlir:3:33: a list for tensor<f32>
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<[1.0]> : tensor<f32>
  return
}
