// dynamic_reshape/c1.mlir:3:8: dynamic_reshape: the result has the operand's element type, got tensor<2x3xf32> and tensor<6xi32> (C1)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<1xi32>) {
  %0 = "stablehlo.dynamic_reshape"(%a, %b) : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<6xi32>
  return
}
