// infeed/i1.mlir:3:10: infeed: (I1) the operand must be a token, got tensor<2xf32>
func.func @main(%a: tensor<2xf32>) {
  %0:2 = "stablehlo.infeed"(%a) : (tensor<2xf32>) -> (tensor<2xf32>, !stablehlo.token)
  return
}
