// case/c1.mlir:3:8: case: (C1) needs a branch, got 0
func.func @main(%a: tensor<i32>) {
  %0 = "stablehlo.case"(%a) : (tensor<i32>) -> tensor<2xf32>
  return
}
