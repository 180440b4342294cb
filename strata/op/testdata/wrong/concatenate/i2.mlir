// concatenate/i2.mlir:3:8: stablehlo.concatenate requires attribute 'dimension'
func.func @main(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) {
  %0 = "stablehlo.concatenate"(%a, %b) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  return
}
