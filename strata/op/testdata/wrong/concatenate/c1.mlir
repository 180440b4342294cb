// concatenate/c1.mlir:3:8: concatenate: operands must have one element type, got tensor<2x3xf32> and tensor<1x3xi32> (C1)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<1x3xi32>) {
  %0 = "stablehlo.concatenate"(%a, %b) <{dimension = 0 : i64}> : (tensor<2x3xf32>, tensor<1x3xi32>) -> tensor<3x3xf32>
  return
}
