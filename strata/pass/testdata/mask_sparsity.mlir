module {
  func.func public @main(%arg0: tensor<64x8xf32>, %arg1: tensor<8x64xf32>) -> tensor<64x64xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<64x8xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.iota dim = 0 : tensor<64x64xi32>
    %2 = stablehlo.iota dim = 1 : tensor<64x64xi32>
    %3 = stablehlo.compare LE, %2, %1, SIGNED : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
    %cst = stablehlo.constant dense<-1.000000e+09> : tensor<64x64xf32>
    %4 = stablehlo.select %3, %0, %cst : tensor<64x64xi1>, tensor<64x64xf32>
    return %4 : tensor<64x64xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<64x8xf32>, %arg1: tensor<8x64xf32>) -> tensor<64x64xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {strata.mask_band = array<i64: 0, 1, -2147483647, 0>} : (tensor<64x8xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.iota dim = 0 : tensor<64x64xi32>
    %2 = stablehlo.iota dim = 1 : tensor<64x64xi32>
    %3 = stablehlo.compare LE, %2, %1, SIGNED : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
    %cst = stablehlo.constant dense<-1.000000e+09> : tensor<64x64xf32>
    %4 = stablehlo.select %3, %0, %cst {strata.select_band = array<i64: 0, 1, -2147483647, 0, 2>} : tensor<64x64xi1>, tensor<64x64xf32>
    return %4 : tensor<64x64xf32>
  }
}
