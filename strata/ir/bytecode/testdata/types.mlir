// Every type that all releases have.
module @types {
  func.func public @main(%arg0: tensor<i1>, %arg1: tensor<2xi4>, %arg2: tensor<i8>, %arg3: tensor<i16>, %arg4: tensor<i32>, %arg5: tensor<i64>, %arg6: tensor<ui4>, %arg7: tensor<ui8>, %arg8: tensor<ui16>, %arg9: tensor<ui32>, %arg10: tensor<ui64>, %arg11: tensor<f8E4M3FN>, %arg12: tensor<f8E5M2>, %arg13: tensor<bf16>, %arg14: tensor<f16>, %arg15: tensor<f32>, %arg16: tensor<f64>, %arg17: tensor<complex<f32>>, %arg18: tensor<complex<f64>>, %arg19: !stablehlo.token, %arg20: tuple<tensor<2xf32>, tuple<>, !stablehlo.token>, %arg21: tensor<?x0x3xf32>) -> tensor<f32> {
    %cst = stablehlo.constant dense<[1.000000e+00, -5.000000e-01]> : tensor<2xf8E4M3FN>
    return %arg15 : tensor<f32>
  }
}
