// imag/c1.mlir:3:8: stablehlo.imag: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C1, C2)
func.func @main(%a: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.imag"(%a) : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
  return
}
