module {
  func.func public @main(%arg0: tensor<8x4xf32>, %arg1: tensor<8x16xf32>) -> tensor<16x4xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
    return %1 : tensor<16x4xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<8x4xf32>, %arg1: tensor<8x16xf32>) -> tensor<16x4xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    return %1 : tensor<16x4xf32>
  }
}
