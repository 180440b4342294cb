module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x128x8xf32>, %arg1: tensor<16x128x8xf32>, %arg2: tensor<16x128x8xf32>, %arg3: tensor<16x128x8xf32>) -> (tensor<16x128x8xf32> {jax.result_info = "result[0]"}, tensor<16x128x8xf32> {jax.result_info = "result[1]"}, tensor<16x128x8xf32> {jax.result_info = "result[2]"}, tensor<16x128x8xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.transpose %arg2, dims = [0, 2, 1] : (tensor<16x128x8xf32>) -> tensor<16x8x128xf32>
    %1 = stablehlo.dot_general %arg1, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x128x8xf32>, tensor<16x8x128xf32>) -> tensor<16x128x128xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<16x128x128xf32>, tensor<f32>) -> tensor<16x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x128xf32>
    %4 = stablehlo.maximum %3, %2 : tensor<16x128xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<16x128xf32>) -> tensor<16x128x1xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<16x128x1xf32>) -> tensor<16x128x128xf32>
    %7 = stablehlo.subtract %1, %6 : tensor<16x128x128xf32>
    %8 = stablehlo.exponential %7 : tensor<16x128x128xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<16x128x128xf32>, tensor<f32>) -> tensor<16x128xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<16x128xf32>) -> tensor<16x128x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<16x128x1xf32>) -> tensor<16x128x128xf32>
    %12 = stablehlo.divide %8, %11 : tensor<16x128x128xf32>
    %13 = stablehlo.multiply %10, %10 : tensor<16x128x1xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x128x1xf32>
    %15 = stablehlo.divide %14, %13 : tensor<16x128x1xf32>
    %16 = stablehlo.dot_general %12, %arg3, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x128x128xf32>, tensor<16x128x8xf32>) -> tensor<16x128x8xf32>
    %17 = stablehlo.dot_general %arg0, %12, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x128x8xf32>, tensor<16x128x128xf32>) -> tensor<16x8x128xf32>
    %18 = stablehlo.transpose %17, dims = [0, 2, 1] : (tensor<16x8x128xf32>) -> tensor<16x128x8xf32>
    %19 = stablehlo.dot_general %arg0, %arg3, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<16x128x8xf32>, tensor<16x128x8xf32>) -> tensor<16x128x128xf32>
    %20 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<16x128x1xf32>) -> tensor<16x128x128xf32>
    %21 = stablehlo.multiply %19, %20 : tensor<16x128x128xf32>
    %22 = stablehlo.multiply %21, %8 : tensor<16x128x128xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<16x128x128xf32>, tensor<f32>) -> tensor<16x128xf32>
    %24 = stablehlo.reshape %23 : (tensor<16x128xf32>) -> tensor<16x128x1xf32>
    %25 = stablehlo.negate %24 : tensor<16x128x1xf32>
    %26 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<16x128x1xf32>) -> tensor<16x128x128xf32>
    %27 = stablehlo.divide %19, %26 : tensor<16x128x128xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%25 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<16x128x1xf32>, tensor<f32>) -> tensor<16x128xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<16x128xf32>) -> tensor<16x128x128xf32>
    %30 = stablehlo.add %27, %29 : tensor<16x128x128xf32>
    %31 = stablehlo.multiply %30, %8 : tensor<16x128x128xf32>
    %32 = stablehlo.dot_general %31, %arg1, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x128x128xf32>, tensor<16x128x8xf32>) -> tensor<16x128x8xf32>
    %33 = stablehlo.transpose %32, dims = [0, 2, 1] : (tensor<16x128x8xf32>) -> tensor<16x8x128xf32>
    %34 = stablehlo.dot_general %31, %0, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<16x128x128xf32>, tensor<16x8x128xf32>) -> tensor<16x128x8xf32>
    %35 = stablehlo.transpose %33, dims = [0, 2, 1] : (tensor<16x8x128xf32>) -> tensor<16x128x8xf32>
    return %16, %34, %35, %18 : tensor<16x128x8xf32>, tensor<16x128x8xf32>, tensor<16x128x8xf32>, tensor<16x128x8xf32>
  }
}
