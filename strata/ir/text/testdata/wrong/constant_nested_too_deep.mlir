// constant_nested_too_deep.mlir:3:34: a list of depth 2 for tensor<1xi32>
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense<[[1]]> : tensor<1xi32>
  return
}
