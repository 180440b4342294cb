// dynamic_reshape/c4.mlir:3:8: dynamic_reshape: output_shape must have 1 entries, got tensor<2xi32> (C4)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_reshape"(%a, %b) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<6xf32>
  return
}
