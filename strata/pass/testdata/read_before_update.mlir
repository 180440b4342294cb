module {
  func.func public @main(%arg0: tensor<8x64xf32>, %arg1: tensor<1x64xf32>, %arg2: tensor<i32>) -> (tensor<8x64xf32>, tensor<1x64xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %c : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>
    %1 = stablehlo.slice %arg0 [0:1, 0:64] : (tensor<8x64xf32>) -> tensor<1x64xf32>
    return %0, %1 : tensor<8x64xf32>, tensor<1x64xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<8x64xf32>, %arg1: tensor<1x64xf32>, %arg2: tensor<i32>) -> (tensor<8x64xf32>, tensor<1x64xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.slice %arg0 [0:1, 0:64] : (tensor<8x64xf32>) -> tensor<1x64xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %c : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>
    return %1, %0 : tensor<8x64xf32>, tensor<1x64xf32>
  }
}
