// reduce_applies_no_combiner.mlir:3:46: reduce applies stablehlo.subtract, which is no plain combiner
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.subtract across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return
}
