// strata.tgmm/c3.mlir:3:8: tgmm: tensor<4x3xf32> and tensor<5x2xf32> have different numbers of rows (C3)
func.func @main(%a: tensor<4x3xf32>, %b: tensor<5x2xf32>, %c: tensor<2xi32>) {
  %0 = "strata.tgmm"(%a, %b, %c) : (tensor<4x3xf32>, tensor<5x2xf32>, tensor<2xi32>) -> tensor<2x3x2xf32>
  return
}
