// reshape/c2.mlir:3:8: reshape: cannot reshape tensor<2x3xf32> with 6 elements to tensor<5xf32> with 5 (C2)
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.reshape"(%a) : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}
