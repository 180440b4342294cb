module {
  func.func public @main(%arg0: tensor<4x512x64xf32>, %arg1: tensor<4x512x64xf32>, %arg2: tensor<4x512x64xf32>) -> tensor<4x512x64xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x512x64xf32>, tensor<4x512x64xf32>) -> tensor<4x512x512xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<4x512x512xf32>) -> tensor<512x4x512xf32>
    %2 = stablehlo.exponential %1 : tensor<512x4x512xf32>
    %3 = stablehlo.dot_general %2, %arg2, batching_dims = [1] x [0], contracting_dims = [2] x [1] : (tensor<512x4x512xf32>, tensor<4x512x64xf32>) -> tensor<4x512x64xf32>
    return %3 : tensor<4x512x64xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<4x512x64xf32>, %arg1: tensor<4x512x64xf32>, %arg2: tensor<4x512x64xf32>) -> tensor<4x512x64xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x512x64xf32>, tensor<4x512x64xf32>) -> tensor<4x512x512xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<4x512x512xf32>) -> tensor<512x4x512xf32>
    %2 = stablehlo.exponential %0 : tensor<4x512x512xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0, 2] : (tensor<4x512x512xf32>) -> tensor<512x4x512xf32>
    %4 = stablehlo.dot_general %2, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x512x512xf32>, tensor<4x512x64xf32>) -> tensor<4x512x64xf32>
    return %4 : tensor<4x512x64xf32>
  }
}
