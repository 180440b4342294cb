// xor/i1.mlir:3:8: xor: dtype f32 is not admitted; it takes booleans, signed integers, unsigned integers (I1)
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  %0 = "stablehlo.xor"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
