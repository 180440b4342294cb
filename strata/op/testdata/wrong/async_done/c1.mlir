// async_done/c1.mlir:3:8: stablehlo.async_done: result 0 is tensor<2xf32>, but tensor<4xf32> is inferred (C1)
func.func @main(%a: !stablehlo.future<tensor<4xf32>>) {
  %0 = "stablehlo.async_done"(%a) : (!stablehlo.future<tensor<4xf32>>) -> tensor<2xf32>
  return
}
