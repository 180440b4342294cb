// async_start/c2.mlir:3:8: async_start: stablehlo.add is no collective and no slice (C2)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.async_start"(%a) ({
    ^bb0(%x: tensor<2xf32>):
      %y = "stablehlo.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      "stablehlo.return"(%y) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}
