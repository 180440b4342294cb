// colon_missing.mlir:3:29: expected ':'
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.add %a, %a tensor<2xf32>
  return
}
