// add/c2.mlir:3:8: add: tensor<2xf32> and tensor<2x!quant.uniform<i8:f32, 5.000000e-01>> do not go together (C2)
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>, %b: tensor<2xf32>) {
  %0 = "stablehlo.add"(%a, %b) : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
  return
}
