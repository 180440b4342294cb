// reduce_applies_to_several.mlir:3:63: reduce applies one operation to several inputs
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0:2 = stablehlo.reduce(%a init: %z), (%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}
