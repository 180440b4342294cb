// dynamic_reshape/i2.mlir:3:8: dynamic_reshape: output_shape must be integers of rank 1, got tensor<1xf32> (C4)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<1xf32>) {
  %0 = "stablehlo.dynamic_reshape"(%a, %b) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<6xf32>
  return
}
