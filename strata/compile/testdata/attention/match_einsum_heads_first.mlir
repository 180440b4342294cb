module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x128x8xf32>, %arg1: tensor<2x8x128x8xf32>, %arg2: tensor<2x8x128x8xf32>, %arg3: tensor<2x8x128x8xf32>) -> (tensor<2x8x128x8xf32> {jax.result_info = "result[0]"}, tensor<2x8x128x8xf32> {jax.result_info = "result[1]"}, tensor<2x8x128x8xf32> {jax.result_info = "result[2]"}, tensor<2x8x128x8xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x8xf32>, tensor<2x8x128x8xf32>) -> tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x8x128x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %5 = stablehlo.maximum %4, %3 : tensor<2x8x128xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %8 = stablehlo.subtract %2, %7 : tensor<2x8x128x128xf32>
    %9 = stablehlo.exponential %8 : tensor<2x8x128x128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %13 = stablehlo.divide %9, %12 : tensor<2x8x128x128xf32>
    %14 = stablehlo.multiply %11, %11 : tensor<2x8x128x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x8x128x1xf32>
    %16 = stablehlo.divide %15, %14 : tensor<2x8x128x1xf32>
    %17 = stablehlo.dot_general %13, %arg3, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x8x128x8xf32>) -> tensor<2x8x128x8xf32>
    %18 = stablehlo.dot_general %arg0, %13, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x8xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %19 = stablehlo.transpose %18, dims = [0, 1, 3, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x8x128x8xf32>
    %20 = stablehlo.dot_general %arg0, %arg3, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x8xf32>, tensor<2x8x128x8xf32>) -> tensor<2x8x128x128xf32>
    %21 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %22 = stablehlo.multiply %20, %21 : tensor<2x8x128x128xf32>
    %23 = stablehlo.multiply %22, %9 : tensor<2x8x128x128xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %25 = stablehlo.reshape %24 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %26 = stablehlo.negate %25 : tensor<2x8x128x1xf32>
    %27 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %28 = stablehlo.divide %20, %27 : tensor<2x8x128x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%26 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
    %31 = stablehlo.add %28, %30 : tensor<2x8x128x128xf32>
    %32 = stablehlo.multiply %31, %9 : tensor<2x8x128x128xf32>
    %cst_6 = stablehlo.constant dense<0.353553385> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %34 = stablehlo.multiply %32, %33 : tensor<2x8x128x128xf32>
    %35 = stablehlo.dot_general %34, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x8x128x8xf32>) -> tensor<2x8x128x8xf32>
    %36 = stablehlo.dot_general %34, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x8x128x8xf32>) -> tensor<2x8x128x8xf32>
    return %17, %36, %35, %19 : tensor<2x8x128x8xf32>, tensor<2x8x128x8xf32>, tensor<2x8x128x8xf32>, tensor<2x8x128x8xf32>
  }
}
