// after_all/i1.mlir:3:8: after_all: operands must be tokens, got tensor<2xf32> (I1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.after_all"(%a) : (tensor<2xf32>) -> !stablehlo.token
  return
}
