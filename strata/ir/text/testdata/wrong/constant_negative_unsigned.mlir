// constant_negative_unsigned.mlir:3:33: '-1' is no value of ui8
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<-1> : tensor<ui8>
  return
}
