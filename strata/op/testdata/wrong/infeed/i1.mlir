// infeed/i1.mlir:3:10: infeed: the operand must be a token, got tensor<2xf32> (I1)
func.func @main(%a: tensor<2xf32>) {
  %0:2 = "stablehlo.infeed"(%a) : (tensor<2xf32>) -> (tensor<2xf32>, !stablehlo.token)
  return
}
