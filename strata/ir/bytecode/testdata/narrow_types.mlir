// Types that came with releases 0.10 to 1.8.
module @narrow_types {
  func.func public @main(%arg0: tensor<f8E4M3FNUZ>, %arg1: tensor<f8E5M2FNUZ>, %arg2: tensor<f8E4M3B11FNUZ>, %arg3: tensor<2xi2>, %arg4: tensor<2xui2>, %arg5: tensor<f8E4M3>, %arg6: tensor<f8E3M4>, %arg7: tensor<f4E2M1FN>, %arg8: tensor<f6E2M3FN>, %arg9: tensor<f6E3M2FN>, %arg10: tensor<f8E8M0FNU>) -> tensor<2xi2> {
    %cst = stablehlo.constant dense<[1.000000e+00, -5.000000e-01, 6.000000e+00]> : tensor<3xf4E2M1FN>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<3xf8E8M0FNU>
    %c = stablehlo.constant dense<[-2, 1]> : tensor<2xi2>
    return %c : tensor<2xi2>
  }
}
