module {
  func.func public @main(%arg0: tensor<1x64xf32>, %arg1: tensor<1x64xf32>, %arg2: tensor<2x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
    %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
    %1 = stablehlo.add %0, %arg2 : tensor<2x64xf32>
    %2 = stablehlo.slice %1 [0:1, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %3 = stablehlo.slice %1 [1:2, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    return %2, %3 : tensor<1x64xf32>, tensor<1x64xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<1x64xf32>, %arg1: tensor<1x64xf32>, %arg2: tensor<2x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
    %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
    %1 = stablehlo.slice %0 [0:1, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %2 = stablehlo.slice %arg2 [0:1, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %3 = stablehlo.add %1, %2 : tensor<1x64xf32>
    %4 = stablehlo.slice %0 [1:2, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %5 = stablehlo.slice %arg2 [1:2, 0:64] : (tensor<2x64xf32>) -> tensor<1x64xf32>
    %6 = stablehlo.add %4, %5 : tensor<1x64xf32>
    return %3, %6 : tensor<1x64xf32>, tensor<1x64xf32>
  }
}
