module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x8xf32>, %arg1: tensor<2x128x8x8xf32>, %arg2: tensor<2x128x8x8xf32>, %arg3: tensor<2x128x8x8xf32>) -> (tensor<2x128x8x8xf32> {jax.result_info = "result[0]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[1]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[2]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x8x128x128xf32>
    %3:3 = call @log_softmax(%2) : (tensor<2x8x128x128xf32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xf32>, tensor<2x8x128x1xf32>)
    %4 = stablehlo.exponential %3#0 : tensor<2x8x128x128xf32>
    %5 = stablehlo.dot_general %arg3, %4, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %6 = stablehlo.transpose %5, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %7 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x128x8x8xf32>) -> tensor<2x8x8x128xf32>
    %8 = stablehlo.dot_general %7, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %9 = stablehlo.dot_general %7, %4, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %10 = stablehlo.transpose %9, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %11 = stablehlo.multiply %8, %4 : tensor<2x8x128x128xf32>
    %12 = call @log_softmax_0(%3#1, %3#2, %11) : (tensor<2x8x128x128xf32>, tensor<2x8x128x1xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32>
    %cst_0 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %14 = stablehlo.divide %12, %13 : tensor<2x8x128x128xf32>
    %15 = stablehlo.dot_general %14, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %16 = stablehlo.transpose %15, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %17 = stablehlo.dot_general %14, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %18 = stablehlo.transpose %17, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    return %6, %18, %16, %10 : tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>
  }
  func.func private @log_softmax(%arg0: tensor<2x8x128x128xf32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xf32>, tensor<2x8x128x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<2x8x128xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x8x128x128xf32>
    %6 = stablehlo.exponential %5 : tensor<2x8x128x128xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %9 = stablehlo.log %8 : tensor<2x8x128x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2x8x128x128xf32>
    return %11, %6, %8 : tensor<2x8x128x128xf32>, tensor<2x8x128x128xf32>, tensor<2x8x128x1xf32>
  }
  func.func private @log_softmax_0(%arg0: tensor<2x8x128x128xf32>, %arg1: tensor<2x8x128x1xf32>, %arg2: tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32> {
    %0 = stablehlo.negate %arg2 : tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %2 = stablehlo.reshape %1 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<2x8x128x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<2x8x128x128xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<2x8x128x128xf32>
    return %7 : tensor<2x8x128x128xf32>
  }
}
