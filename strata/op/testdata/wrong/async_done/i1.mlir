// async_done/i1.mlir:3:8: async_done: the operand must be a future, got tensor<4xf32> (I1)
func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.async_done"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
