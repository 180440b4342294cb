// reduce_precision_format.mlir:3:48: 'm7e8' is no format like e8m7
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.reduce_precision %a, format = m7e8 : tensor<2xf32>
  return
}
