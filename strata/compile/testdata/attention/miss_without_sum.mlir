module @jit_without_sum attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x8xf32>, %arg1: tensor<2x128x8x8xf32>, %arg2: tensor<2x128x8x8xf32>) -> (tensor<2x128x8x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x8x128x128xf32>
    %3 = stablehlo.exponential %2 : tensor<2x8x128x128xf32>
    %4 = stablehlo.dot_general %arg2, %3, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %5 = stablehlo.transpose %4, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    return %5 : tensor<2x128x8x8xf32>
  }
}
