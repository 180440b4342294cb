// shift_right_logical/c1_result.mlir:3:8: stablehlo.shift_right_logical: result 0 is tensor<2xi8>, but tensor<2xi32> is inferred (C1)
func.func @main(%a: tensor<2xi32>, %b: tensor<2xi32>) {
  %0 = "stablehlo.shift_right_logical"(%a, %b) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi8>
  return
}
