// constant_without_value.mlir:3:33: no value for tensor<2xf32>
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<> : tensor<2xf32>
  return
}
