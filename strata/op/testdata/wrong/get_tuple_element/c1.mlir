// get_tuple_element/c1.mlir:3:8: get_tuple_element: there is no element 2 in tuple<tensor<2xf32>, tensor<3xf32>> (C1)
func.func @main(%a: tuple<tensor<2xf32>, tensor<3xf32>>) {
  %0 = "stablehlo.get_tuple_element"(%a) <{index = 2 : i32}> : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>
  return
}
