module {
  func.func public @main() -> tensor<128x128xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<128x128xf32>
    return %cst : tensor<128x128xf32>
  }
}
// -----
module {
  func.func public @main() -> tensor<128x128xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x128xf32>
    return %0 : tensor<128x128xf32>
  }
}
