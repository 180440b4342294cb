// dynamic_reshape/c2.mlir:3:8: dynamic_reshape: cannot reshape tensor<2x3xf32> with 6 elements to tensor<5xf32> with 5 (C2)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<1xi32>) {
  %0 = "stablehlo.dynamic_reshape"(%a, %b) : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<5xf32>
  return
}
