// What releases from 1.9 and 1.10 on can say.
module @accuracy {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tan %arg0 : tensor<4xf32>
    %1 = stablehlo.exponential %0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 5.000000e-01, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
    %2 = stablehlo.log %1 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
