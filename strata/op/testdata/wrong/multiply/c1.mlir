// multiply/c1.mlir:3:8: multiply: operands must have equal types, got tensor<2xf32> and tensor<3xf32> (C1)
func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  %0 = "stablehlo.multiply"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}
