// What releases from 0.19 on have.
module @composite {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.composite "chlo.erf" %arg0 {decomposition = @erf.impl} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.composite "own.scaled" %0 {composite_attributes = {by = 2.000000e+00 : f32, dims = dense<[0, 1]> : tensor<2xi64>}, decomposition = @erf.impl, version = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @erf.impl(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
