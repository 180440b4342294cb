// sort_in_short.mlir:3:23: stablehlo.sort is written in the generic form
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.sort %a : tensor<2xf32>
  return
}
