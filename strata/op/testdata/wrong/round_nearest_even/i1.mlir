// round_nearest_even/i1.mlir:3:8: round_nearest_even: dtype i32 is not admitted; it takes floats (I1)
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.round_nearest_even"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
