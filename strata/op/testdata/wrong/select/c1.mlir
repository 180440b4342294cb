// select/c1.mlir:3:8: select: the predicate tensor<3xi1> must be a scalar or have the shape of tensor<2xf32> (C1)
func.func @main(%a: tensor<3xi1>, %b: tensor<2xf32>, %c: tensor<2xf32>) {
  %0 = "stablehlo.select"(%a, %b, %c) : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
