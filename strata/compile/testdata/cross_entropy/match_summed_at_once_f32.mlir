module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xf32>, %arg1: tensor<16x128xf32>, %arg2: tensor<4x32xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xf32> {jax.result_info = "result[1][0]"}, tensor<16x128xf32> {jax.result_info = "result[1][1]"}) {
    %0 = call @_one_hot(%arg2) : (tensor<4x32xi32>) -> tensor<4x32x128xf32>
    %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xf32>, tensor<16x128xf32>) -> tensor<4x32x128xf32>
    %2:3 = call @log_softmax(%1) : (tensor<4x32x128xf32>) -> (tensor<4x32x128xf32>, tensor<4x32x128xf32>, tensor<4x32x1xf32>)
    %3 = stablehlo.multiply %0, %2#0 : tensor<4x32x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x32x128xf32>, tensor<f32>) -> tensor<f32>
    %5 = stablehlo.negate %4 : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %6 = stablehlo.divide %5, %cst_0 : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %7 = stablehlo.divide %cst_1, %cst_2 : tensor<f32>
    %8 = stablehlo.negate %7 : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4x32x128xf32>
    %10 = stablehlo.multiply %0, %9 : tensor<4x32x128xf32>
    %11 = call @log_softmax_0(%2#1, %2#2, %10) : (tensor<4x32x128xf32>, tensor<4x32x1xf32>, tensor<4x32x128xf32>) -> tensor<4x32x128xf32>
    %12 = stablehlo.dot_general %11, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x128xf32>, tensor<4x32x16xf32>) -> tensor<128x16xf32>
    %13 = stablehlo.transpose %12, dims = [1, 0] : (tensor<128x16xf32>) -> tensor<16x128xf32>
    %14 = stablehlo.dot_general %11, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x128xf32>, tensor<16x128xf32>) -> tensor<4x32x16xf32>
    return %6, %14, %13 : tensor<f32>, tensor<4x32x16xf32>, tensor<16x128xf32>
  }
  func.func private @_one_hot(%arg0: tensor<4x32xi32>) -> tensor<4x32x128xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %1 = stablehlo.iota dim = 2 : tensor<1x1x128xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<4x32x1xi32>) -> tensor<4x32x128xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x128xi32>) -> tensor<4x32x128xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<4x32x128xi32>, tensor<4x32x128xi32>) -> tensor<4x32x128xi1>
    %5 = stablehlo.convert %4 : (tensor<4x32x128xi1>) -> tensor<4x32x128xf32>
    return %5 : tensor<4x32x128xf32>
  }
  func.func private @log_softmax(%arg0: tensor<4x32x128xf32>) -> (tensor<4x32x128xf32>, tensor<4x32x128xf32>, tensor<4x32x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x128xf32>, tensor<f32>) -> tensor<4x32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<4x32xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x128xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x32x128xf32>
    %6 = stablehlo.exponential %5 : tensor<4x32x128xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<4x32x128xf32>, tensor<f32>) -> tensor<4x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %9 = stablehlo.log %8 : tensor<4x32x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x128xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<4x32x128xf32>
    return %11, %6, %8 : tensor<4x32x128xf32>, tensor<4x32x128xf32>, tensor<4x32x1xf32>
  }
  func.func private @log_softmax_0(%arg0: tensor<4x32x128xf32>, %arg1: tensor<4x32x1xf32>, %arg2: tensor<4x32x128xf32>) -> tensor<4x32x128xf32> {
    %0 = stablehlo.negate %arg2 : tensor<4x32x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x32x128xf32>, tensor<f32>) -> tensor<4x32xf32>
    %2 = stablehlo.reshape %1 : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<4x32x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<4x32x1xf32>, tensor<f32>) -> tensor<4x32xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x128xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<4x32x128xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<4x32x128xf32>
    return %7 : tensor<4x32x128xf32>
  }
}
