// complex/c2.mlir:3:8: stablehlo.complex: result 0 is tensor<3xcomplex<f32>>, but tensor<2xcomplex<f32>> is inferred (C2, C3)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.complex"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xcomplex<f32>>
  return
}
