module {
  func.func public @main(%arg0: tensor<8x64xf32>, %arg1: tensor<1x64xf32>, %arg2: tensor<i32>, %arg3: tensor<i1>) -> tensor<8x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %c : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>
    %1 = stablehlo.select %arg3, %0, %arg0 : tensor<i1>, tensor<8x64xf32>
    return %1 : tensor<8x64xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<8x64xf32>, %arg1: tensor<1x64xf32>, %arg2: tensor<i32>, %arg3: tensor<i1>) -> tensor<8x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %c : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>
    %1 = stablehlo.dynamic_slice %arg0, %arg2, %c, sizes = [1, 64] : (tensor<8x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %2 = stablehlo.select %arg3, %arg1, %1 : tensor<i1>, tensor<1x64xf32>
    %3 = stablehlo.dynamic_update_slice %arg0, %2, %arg2, %c : (tensor<8x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<8x64xf32>
    return %3 : tensor<8x64xf32>
  }
}
