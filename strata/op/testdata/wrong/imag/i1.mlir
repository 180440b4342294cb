// imag/i1.mlir:3:8: imag: (I1) takes floats and complex numbers, got tensor<2xi32>
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.imag"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
