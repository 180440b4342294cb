// async_start/i2.mlir:3:8: async_start: needs one region, got 0
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.async_start"(%a) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}
