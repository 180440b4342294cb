// constant_negative_power.mlir:3:33: '-1.0' is no value of f8E8M0FNU
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<-1.0> : tensor<f8E8M0FNU>
  return
}
