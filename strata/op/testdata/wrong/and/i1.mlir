// and/i1.mlir:3:8: and: dtype f32 is not admitted; it takes booleans, signed integers, unsigned integers (I1)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.and"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
