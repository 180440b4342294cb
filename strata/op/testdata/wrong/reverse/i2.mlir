// reverse/i2.mlir:3:8: stablehlo.reverse requires attribute 'dimensions'
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.reverse"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
