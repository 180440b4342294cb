// round_nearest_afz/i1.mlir:3:8: round_nearest_afz: dtype i32 is not admitted; it takes floats (I1)
func.func @main(%a: tensor<2xi32>) {
  %0 = "stablehlo.round_nearest_afz"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
