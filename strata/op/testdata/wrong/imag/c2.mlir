// imag/c2.mlir:3:8: stablehlo.imag: result 0 is tensor<2xf64>, but tensor<2xf32> is inferred (C1, C2)
func.func @main(%a: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.imag"(%a) : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}
