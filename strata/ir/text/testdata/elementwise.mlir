module @elementwise {
  func.func @unary(%arg0: tensor<4xf32>, %arg1: tensor<2x3xi32>, %arg2: tensor<bf16>) -> tensor<4xf32> {
    %0 = stablehlo.abs %arg0 : tensor<4xf32>
    %1 = stablehlo.cbrt %0 : tensor<4xf32>
    %2 = stablehlo.ceil %1 : tensor<4xf32>
    %3 = stablehlo.cosine %2 : tensor<4xf32>
    %4 = stablehlo.exponential %3 : tensor<4xf32>
    %5 = stablehlo.exponential %3 : tensor<4xf32>
    %6 = stablehlo.exponential %3 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
    %7 = stablehlo.exponential_minus_one %4 : tensor<4xf32>
    %8 = stablehlo.floor %7 : tensor<4xf32>
    %9 = stablehlo.log %8 : tensor<4xf32>
    %10 = stablehlo.log_plus_one %9 : tensor<4xf32>
    %11 = stablehlo.logistic %10 : tensor<4xf32>
    %12 = stablehlo.negate %11 : tensor<4xf32>
    %13 = stablehlo.round_nearest_afz %12 : tensor<4xf32>
    %14 = stablehlo.round_nearest_even %13 : tensor<4xf32>
    %15 = stablehlo.rsqrt %14 : tensor<4xf32>
    %16 = stablehlo.sign %15 : tensor<4xf32>
    %17 = stablehlo.sine %16 : tensor<4xf32>
    %18 = stablehlo.sqrt %17 : tensor<4xf32>
    %19 = stablehlo.tan %18 : tensor<4xf32>
    %20 = stablehlo.tanh %19 : tensor<4xf32>
    %21 = stablehlo.is_finite %20 : (tensor<4xf32>) -> tensor<4xi1>
    %22 = stablehlo.not %arg1 : tensor<2x3xi32>
    %23 = stablehlo.popcnt %22 : tensor<2x3xi32>
    %24 = stablehlo.convert %23 : (tensor<2x3xi32>) -> tensor<2x3xbf16>
    %25 = stablehlo.convert %arg2 : tensor<bf16>
    %26 = stablehlo.bitcast_convert %20 : (tensor<4xf32>) -> tensor<4xui32>
    %27 = chlo.erf %20 : tensor<4xf32> -> tensor<4xf32>
    %28 = chlo.square %27 : tensor<4xf32> -> tensor<4xf32>
    %29 = stablehlo.negate %28 {mhlo.frontend_attributes = {a = "1", b = "2"}, note.x} : tensor<4xf32>
    return %29 : tensor<4xf32>
  }
  func.func @binary(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<2xui8>, %arg3: tensor<2xui8>, %arg4: tensor<i1>, %arg5: tensor<f32>) -> (tensor<4xf32>, tensor<2xui8>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    %1 = stablehlo.atan2 %arg0, %arg1 : tensor<4xf32>
    %2 = stablehlo.divide %arg0, %arg1 : tensor<4xf32>
    %3 = stablehlo.maximum %arg0, %arg1 : tensor<4xf32>
    %4 = stablehlo.minimum %arg0, %arg1 : tensor<4xf32>
    %5 = stablehlo.multiply %arg0, %arg1 : tensor<4xf32>
    %6 = stablehlo.power %arg0, %arg1 : tensor<4xf32>
    %7 = stablehlo.remainder %arg0, %arg1 : tensor<4xf32>
    %8 = stablehlo.subtract %arg0, %arg1 : tensor<4xf32>
    %9 = stablehlo.and %arg2, %arg3 : tensor<2xui8>
    %10 = stablehlo.or %arg2, %arg3 : tensor<2xui8>
    %11 = stablehlo.xor %arg2, %arg3 : tensor<2xui8>
    %12 = stablehlo.shift_left %arg2, %arg3 : tensor<2xui8>
    %13 = stablehlo.shift_right_arithmetic %arg2, %arg3 : tensor<2xui8>
    %14 = stablehlo.shift_right_logical %arg2, %arg3 : tensor<2xui8>
    %15 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %16 = stablehlo.compare GE, %arg0, %arg1, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %17 = stablehlo.compare NE, %arg2, %arg3 : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
    %18 = stablehlo.select %15, %arg0, %arg1 : tensor<4xi1>, tensor<4xf32>
    %19 = stablehlo.select %arg4, %arg0, %arg1 : tensor<i1>, tensor<4xf32>
    %20 = stablehlo.clamp %arg0, %18, %arg1 : tensor<4xf32>
    %21 = stablehlo.clamp %arg5, %18, %arg5 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    return %21, %14 : tensor<4xf32>, tensor<2xui8>
  }
}
