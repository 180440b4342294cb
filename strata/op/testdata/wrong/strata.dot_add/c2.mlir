// strata.dot_add/c2.mlir:3:8: dot_add: products of tensor<2x3xbf16> and tensor<3x4xbf16> do not add up in tensor<2x4xbf16> (C2)
func.func @main(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>, %c: tensor<2x4xbf16>) {
  %0 = "strata.dot_add"(%a, %b, %c) <{lhs_batching_dimensions = array<i64>, lhs_contracting_dimensions = array<i64: 1>, rhs_batching_dimensions = array<i64>, rhs_contracting_dimensions = array<i64: 0>}> : (tensor<2x3xbf16>, tensor<3x4xbf16>, tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return
}
