module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x5x3xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
    %3 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %4 = stablehlo.slice %arg0 [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
    %5 = stablehlo.slice %arg1 [] : (tensor<f32>) -> tensor<f32>
    %6 = stablehlo.pad %arg0, %arg1, low = [0, -1], high = [1, 0], interior = [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>
    %7 = stablehlo.concatenate %arg0, %4, dim = 1 : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
    %8 = stablehlo.iota dim = 0 : tensor<4xi32>
    %9 = stablehlo.reverse %arg0, dims = [1, 0] : tensor<2x3xf32>
    %10 = stablehlo.dynamic_slice %arg0, %arg2, %arg2, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %11 = stablehlo.dynamic_update_slice %arg0, %10, %arg2, %arg2 : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %12:2 = stablehlo.optimization_barrier %11, %0 : tensor<2x3xf32>, tensor<4xf32>
    %13 = stablehlo.add %12#1, %0 : tensor<4xf32>
    return %13 : tensor<4xf32>
  }
}
