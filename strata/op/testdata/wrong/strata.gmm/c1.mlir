// strata.gmm/c1.mlir:3:8: gmm: multiplies [rows, in] with [groups, in, out] by sizes [groups], all with a batch in front or none, got tensor<4x3xf32>, tensor<3x2xf32> and tensor<2xi32> (C1)
func.func @main(%a: tensor<4x3xf32>, %b: tensor<3x2xf32>, %c: tensor<2xi32>) {
  %0 = "strata.gmm"(%a, %b, %c) : (tensor<4x3xf32>, tensor<3x2xf32>, tensor<2xi32>) -> tensor<4x2xf32>
  return
}
