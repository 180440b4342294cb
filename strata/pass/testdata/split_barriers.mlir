module {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
    %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<4xf32>, tensor<2xf32>
    return %0#0, %0#1 : tensor<4xf32>, tensor<2xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
    %0 = stablehlo.optimization_barrier %arg0 : tensor<4xf32>
    %1 = stablehlo.optimization_barrier %arg1 : tensor<2xf32>
    return %0, %1 : tensor<4xf32>, tensor<2xf32>
  }
}
