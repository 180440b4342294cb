// transpose/i2.mlir:3:8: stablehlo.transpose requires attribute 'permutation'
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%a) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
