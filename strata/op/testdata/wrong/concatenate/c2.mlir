// concatenate/c2.mlir:3:8: concatenate: operands must agree except along dimension 0, got tensor<2x3xf32> and tensor<1x4xf32> (C2)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<1x4xf32>) {
  %0 = "stablehlo.concatenate"(%a, %b) <{dimension = 0 : i64}> : (tensor<2x3xf32>, tensor<1x4xf32>) -> tensor<3x3xf32>
  return
}
