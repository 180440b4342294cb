// get_tuple_element/i1.mlir:3:8: get_tuple_element: the operand must be a tuple, got tensor<2xf32> (I1)
func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.get_tuple_element"(%a) <{index = 0 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
