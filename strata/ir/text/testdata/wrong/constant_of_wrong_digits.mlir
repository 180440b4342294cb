// constant_of_wrong_digits.mlir:3:33: bytes of a constant are "0x" and pairs of digits
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<"0xZZZZZZZZ"> : tensor<f32>
  return
}
