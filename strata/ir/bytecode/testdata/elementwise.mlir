// Operations on elements, each once; the accuracies; comparisons.
module @elementwise {
  func.func public @floats(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.abs %arg0 : tensor<2x3xf32>
    %1 = stablehlo.add %0, %arg1 : tensor<2x3xf32>
    %2 = stablehlo.atan2 %1, %arg1 : tensor<2x3xf32>
    %3 = stablehlo.cbrt %2 : tensor<2x3xf32>
    %4 = stablehlo.ceil %3 : tensor<2x3xf32>
    %5 = stablehlo.clamp %arg0, %4, %arg1 : tensor<2x3xf32>
    %6 = stablehlo.cosine %5 : tensor<2x3xf32>
    %7 = stablehlo.divide %6, %arg1 : tensor<2x3xf32>
    %8 = stablehlo.exponential %7 : tensor<2x3xf32>
    %9 = stablehlo.exponential_minus_one %8 : tensor<2x3xf32>
    %10 = stablehlo.floor %9 : tensor<2x3xf32>
    %11 = stablehlo.log %10 : tensor<2x3xf32>
    %12 = stablehlo.log_plus_one %11 : tensor<2x3xf32>
    %13 = stablehlo.logistic %12 : tensor<2x3xf32>
    %14 = stablehlo.maximum %13, %arg1 : tensor<2x3xf32>
    %15 = stablehlo.minimum %14, %arg1 : tensor<2x3xf32>
    %16 = stablehlo.multiply %15, %arg1 : tensor<2x3xf32>
    %17 = stablehlo.negate %16 : tensor<2x3xf32>
    %18 = stablehlo.power %17, %arg1 : tensor<2x3xf32>
    %19 = stablehlo.remainder %18, %arg1 : tensor<2x3xf32>
    %20 = stablehlo.round_nearest_afz %19 : tensor<2x3xf32>
    %21 = stablehlo.round_nearest_even %20 : tensor<2x3xf32>
    %22 = stablehlo.rsqrt %21 : tensor<2x3xf32>
    %23 = stablehlo.sign %22 : tensor<2x3xf32>
    %24 = stablehlo.sine %23 : tensor<2x3xf32>
    %25 = stablehlo.sqrt %24 : tensor<2x3xf32>
    %26 = stablehlo.subtract %25, %arg1 : tensor<2x3xf32>
    %27 = stablehlo.tanh %26 : tensor<2x3xf32>
    %28 = stablehlo.reduce_precision %27, format = e5m10 : tensor<2x3xf32>
    %29 = stablehlo.is_finite %28 : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %30 = stablehlo.compare LT, %28, %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %31 = stablehlo.compare GE, %28, %arg1, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %32 = stablehlo.and %29, %30 : tensor<2x3xi1>
    %33 = stablehlo.select %32, %28, %arg0 : tensor<2x3xi1>, tensor<2x3xf32>
    return %33 : tensor<2x3xf32>
  }
  func.func private @integers(%arg0: tensor<4xi32>, %arg1: tensor<4xi32>) -> tensor<4xi32> {
    %0 = stablehlo.count_leading_zeros %arg0 : tensor<4xi32>
    %1 = stablehlo.not %0 : tensor<4xi32>
    %2 = stablehlo.or %1, %arg1 : tensor<4xi32>
    %3 = stablehlo.popcnt %2 : tensor<4xi32>
    %4 = stablehlo.shift_left %3, %arg1 : tensor<4xi32>
    %5 = stablehlo.shift_right_arithmetic %4, %arg1 : tensor<4xi32>
    %6 = stablehlo.shift_right_logical %5, %arg1 : tensor<4xi32>
    %7 = stablehlo.xor %6, %arg1 : tensor<4xi32>
    %8 = stablehlo.compare EQ, %7, %arg1, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %9 = stablehlo.compare NE, %7, %arg1, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %10 = stablehlo.compare GT, %8, %9, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %11 = stablehlo.compare LE, %8, %10 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %12 = stablehlo.convert %11 : (tensor<4xi1>) -> tensor<4xi32>
    return %12 : tensor<4xi32>
  }
  func.func private @complex(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.complex %arg0, %arg0 : tensor<4xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %2 = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    return %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
}
