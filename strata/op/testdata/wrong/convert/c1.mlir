// convert/c1.mlir:3:8: convert: result tensor<3xi32> has another shape than the operand tensor<2xf32> (C1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.convert"(%a) : (tensor<2xf32>) -> tensor<3xi32>
  return
}
