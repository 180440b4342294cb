// strata.gmm/c4.mlir:3:8: gmm: tensor<2x3x2xf32> has another number of groups than tensor<5xi32> (C4)
func.func @main(%a: tensor<4x3xf32>, %b: tensor<2x3x2xf32>, %c: tensor<5xi32>) {
  %0 = "strata.gmm"(%a, %b, %c) : (tensor<4x3xf32>, tensor<2x3x2xf32>, tensor<5xi32>) -> tensor<4x2xf32>
  return
}
