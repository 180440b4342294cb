module {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<4xf32>, tensor<2xf32>>
    %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
    return %arg1 : tensor<2xf32>
  }
}
