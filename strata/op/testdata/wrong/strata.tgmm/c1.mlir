// strata.tgmm/c1.mlir:3:8: tgmm: adds products of [rows, in] and [rows, out] by sizes [groups], all with a batch in front or none, got tensor<4x3xf32>, tensor<4x2xf32> and tensor<2x1xi32> (C1)
func.func @main(%a: tensor<4x3xf32>, %b: tensor<4x2xf32>, %c: tensor<2x1xi32>) {
  %0 = "strata.tgmm"(%a, %b, %c) : (tensor<4x3xf32>, tensor<4x2xf32>, tensor<2x1xi32>) -> tensor<2x3x2xf32>
  return
}
