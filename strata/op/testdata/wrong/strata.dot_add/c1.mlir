// strata.dot_add/c1.mlir:3:8: dot_add: the product is tensor<2x4xf32>, but the sums are tensor<2x5xf32> (C1)
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2x5xf32>) {
  %0 = "strata.dot_add"(%a, %b, %c) <{lhs_batching_dimensions = array<i64>, lhs_contracting_dimensions = array<i64: 1>, rhs_batching_dimensions = array<i64>, rhs_contracting_dimensions = array<i64: 0>}> : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}
