module {
  func.func public @main(%arg0: tensor<1x200000xf32>, %arg1: tensor<200000x4xf32>) -> tensor<1x4xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<1x200000xf32>, tensor<200000x4xf32>) -> tensor<1x4xf32>
    return %0 : tensor<1x4xf32>
  }
}
// -----
module {
  func.func public @main(%arg0: tensor<1x200000xf32>, %arg1: tensor<200000x4xf32>) -> tensor<1x4xf32> {
    %0 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<200000x4xf32>) -> tensor<4x200000xf32>
    %1 = stablehlo.slice %arg0 [0:1, 0:194304] : (tensor<1x200000xf32>) -> tensor<1x194304xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x194304xf32>) -> tensor<1x23x8448xf32>
    %3 = stablehlo.slice %0 [0:4, 0:194304] : (tensor<4x200000xf32>) -> tensor<4x194304xf32>
    %4 = stablehlo.reshape %3 : (tensor<4x194304xf32>) -> tensor<4x23x8448xf32>
    %5 = stablehlo.dot_general %2, %4, batching_dims = [1] x [1], contracting_dims = [2] x [2] {strata.sum_chains = array<i64: 32, 1056, 0>} : (tensor<1x23x8448xf32>, tensor<4x23x8448xf32>) -> tensor<23x1x4xf32>
    %6 = stablehlo.convert %5 : (tensor<23x1x4xf32>) -> tensor<23x1x4xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<23x1x4xf64>, tensor<f64>) -> tensor<1x4xf64>
    %8 = stablehlo.slice %arg0 [0:1, 194304:200000] : (tensor<1x200000xf32>) -> tensor<1x5696xf32>
    %9 = stablehlo.slice %0 [0:4, 194304:200000] : (tensor<4x200000xf32>) -> tensor<4x5696xf32>
    %10 = stablehlo.dot_general %8, %9, contracting_dims = [1] x [1] {strata.sum_chains = array<i64: 32, 1056, 0>} : (tensor<1x5696xf32>, tensor<4x5696xf32>) -> tensor<1x4xf32>
    %11 = stablehlo.convert %10 : (tensor<1x4xf32>) -> tensor<1x4xf64>
    %12 = stablehlo.add %7, %11 : tensor<1x4xf64>
    %13 = stablehlo.convert %12 : (tensor<1x4xf64>) -> tensor<1x4xf32>
    return %13 : tensor<1x4xf32>
  }
}
