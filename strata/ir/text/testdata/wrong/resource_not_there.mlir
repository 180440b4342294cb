// resource_not_there.mlir:3:42: resource 'w' is not in the text
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.constant dense_resource<w> : tensor<2xf32>
  return
}
