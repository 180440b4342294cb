// constant_too_large.mlir:3:33: constants of more than 2147483648 bytes
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<1000000x1000000xf64>
  return
}
