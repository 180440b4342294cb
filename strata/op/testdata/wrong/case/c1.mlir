// case/c1.mlir:3:8: case: needs a branch, got 0 (C1)
func.func @main(%a: tensor<i32>) {
  %0 = "stablehlo.case"(%a) : (tensor<i32>) -> tensor<2xf32>
  return
}
