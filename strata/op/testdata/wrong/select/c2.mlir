// select/c2.mlir:3:8: select: both choices must have one type, got tensor<2xf32> and tensor<3xf32> (C2)
func.func @main(%a: tensor<2xi1>, %b: tensor<2xf32>, %c: tensor<3xf32>) {
  %0 = "stablehlo.select"(%a, %b, %c) : (tensor<2xi1>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}
