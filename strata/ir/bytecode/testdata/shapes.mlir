// What moves elements, and constants.
module @shapes {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>) -> (tensor<6xf32>, tensor<3x2xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
    %1 = stablehlo.broadcast %arg0, sizes = [5] : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
    %2 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
    %3 = stablehlo.dynamic_slice %2, %arg1, %arg1, sizes = [1, 2] : (tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %4 = stablehlo.dynamic_update_slice %2, %3, %arg1, %arg1 : (tensor<2x6xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x6xf32>
    %5 = stablehlo.iota dim = 1 : tensor<2x6xf32>
    %6 = stablehlo.pad %5, %cst, low = [0, 1], high = [2, -1], interior = [1, 0] : (tensor<2x6xf32>, tensor<f32>) -> tensor<5x6xf32>
    %7 = stablehlo.reverse %6, dims = [0] : tensor<5x6xf32>
    %8 = stablehlo.slice %7 [0:4:2, 1:4] : (tensor<5x6xf32>) -> tensor<2x3xf32>
    %9 = stablehlo.transpose %8, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %10 = stablehlo.reshape %9 : (tensor<3x2xf32>) -> tensor<6xf32>
    %11 = stablehlo.bitcast_convert %10 : (tensor<6xf32>) -> tensor<6xi32>
    %12:2 = stablehlo.optimization_barrier %10, %9 : tensor<6xf32>, tensor<3x2xf32>
    %13 = stablehlo.get_dimension_size %9, dim = 0 : (tensor<3x2xf32>) -> tensor<i32>
    return %12#0, %12#1 : tensor<6xf32>, tensor<3x2xf32>
  }
  func.func private @constants() -> tensor<3xi1> {
    %c = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %c_0 = stablehlo.constant dense<true> : tensor<3xi1>
    %c_1 = stablehlo.constant dense<false> : tensor<20xi1>
    %c_2 = stablehlo.constant dense<true> : tensor<i1>
    %c_3 = stablehlo.constant dense<[-1, 7, 3, -8]> : tensor<4xi4>
    %c_4 = stablehlo.constant dense<[15, 0]> : tensor<2xui4>
    %c_5 = stablehlo.constant dense<[-128, 127]> : tensor<2xi8>
    %c_6 = stablehlo.constant dense<[0, 65535]> : tensor<2xui16>
    %c_7 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
    %cst = stablehlo.constant dense<[[1.500000e+00, -0.000000e+00], [0x7F800000, 0x7FC00000]]> : tensor<2x2xf32>
    %cst_8 = stablehlo.constant dense<1.500000e+00> : tensor<2x2xbf16>
    %cst_9 = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf16>
    %cst_10 = stablehlo.constant dense<3.1415926535897931> : tensor<f64>
    %cst_11 = stablehlo.constant dense<[(1.000000e+00,-2.000000e+00), (3.000000e+00,4.000000e+00)]> : tensor<2xcomplex<f32>>
    %cst_12 = stablehlo.constant dense<(1.000000e+00,-2.000000e+00)> : tensor<2xcomplex<f64>>
    %cst_13 = stablehlo.constant dense<> : tensor<0x3xf32>
    %c_14 = stablehlo.constant dense<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]> : tensor<16xui8>
    return %c : tensor<3xi1>
  }
}
