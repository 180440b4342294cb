// abs/c2.mlir:3:8: stablehlo.abs: result 0 is tensor<2xcomplex<f32>>, but tensor<2xf32> is inferred (C1, C2)
func.func @main(%a: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.abs"(%a) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}
