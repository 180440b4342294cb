// constant_of_too_few_bytes.mlir:3:33: 1 bytes for tensor<2xf32>
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<"0x00"> : tensor<2xf32>
  return
}
