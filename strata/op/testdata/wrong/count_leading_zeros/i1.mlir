// count_leading_zeros/i1.mlir:3:8: count_leading_zeros: dtype f32 is not admitted; it takes signed integers, unsigned integers (I1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.count_leading_zeros"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
