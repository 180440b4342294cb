// complex/c3.mlir:3:8: complex: the parts must be f32 or f64, got tensor<2xf16> (C3)
func.func @main(%a: tensor<2xf16>, %b: tensor<2xf16>) {
  %0 = "stablehlo.complex"(%a, %b) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xcomplex<f32>>
  return
}
