module {
  func.func public @main(%arg0: tensor<4x1xf32>, %arg1: tensor<1x16xf32>) -> tensor<4x16xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4x1xf32>, tensor<1x16xf32>) -> tensor<4x16xf32>
    return %0 : tensor<4x16xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<4x1xf32>, %arg1: tensor<1x16xf32>) -> tensor<4x16xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<4x1xf32>) -> tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
    %2 = stablehlo.reshape %arg1 : (tensor<1x16xf32>) -> tensor<16xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<16xf32>) -> tensor<4x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %5 = strata.fma %1, %3, %4 : tensor<4x16xf32>
    return %5 : tensor<4x16xf32>
  }
}
