// get_tuple_element/i2.mlir:3:8: stablehlo.get_tuple_element requires attribute 'index'
func.func @main(%a: tuple<tensor<2xf32>, tensor<3xf32>>) {
  %0 = "stablehlo.get_tuple_element"(%a) : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>
  return
}
