// get_tuple_element/c2.mlir:3:8: stablehlo.get_tuple_element: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C2)
func.func @main(%a: tuple<tensor<2xf32>, tensor<3xf32>>) {
  %0 = "stablehlo.get_tuple_element"(%a) <{index = 0 : i32}> : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<3xf32>
  return
}
