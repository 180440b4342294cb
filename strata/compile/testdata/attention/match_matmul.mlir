module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x128x8xf32>, %arg1: tensor<2x8x128x8xf32>, %arg2: tensor<2x8x128x8xf32>, %arg3: tensor<2x8x128x8xf32>) -> (tensor<2x8x128x8xf32> {jax.result_info = "result[0]"}, tensor<2x8x128x8xf32> {jax.result_info = "result[1]"}, tensor<2x8x128x8xf32> {jax.result_info = "result[2]"}, tensor<2x8x128x8xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.transpose %arg2, dims = [0, 1, 3, 2] : (tensor<2x8x128x8xf32>) -> tensor<2x8x8x128xf32>
    %1 = stablehlo.dot_general %arg1, %0, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x8xf32>, tensor<2x8x8x128xf32>) -> tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %2 = stablehlo.sqrt %cst : tensor<f32>
    %3 = stablehlo.convert %2 : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %5 = stablehlo.divide %1, %4 : tensor<2x8x128x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<2x8x128xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2x8x128x128xf32>
    %12 = stablehlo.exponential %11 : tensor<2x8x128x128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %16 = stablehlo.divide %12, %15 : tensor<2x8x128x128xf32>
    %17 = stablehlo.multiply %14, %14 : tensor<2x8x128x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x8x128x1xf32>
    %19 = stablehlo.divide %18, %17 : tensor<2x8x128x1xf32>
    %20 = stablehlo.dot_general %16, %arg3, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x8x128x8xf32>) -> tensor<2x8x128x8xf32>
    %21 = stablehlo.dot_general %arg0, %16, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x8xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %22 = stablehlo.transpose %21, dims = [0, 1, 3, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x8x128x8xf32>
    %23 = stablehlo.dot_general %arg0, %arg3, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x8xf32>, tensor<2x8x128x8xf32>) -> tensor<2x8x128x128xf32>
    %24 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %25 = stablehlo.multiply %23, %24 : tensor<2x8x128x128xf32>
    %26 = stablehlo.multiply %25, %12 : tensor<2x8x128x128xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %28 = stablehlo.reshape %27 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %29 = stablehlo.negate %28 : tensor<2x8x128x1xf32>
    %30 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %31 = stablehlo.divide %23, %30 : tensor<2x8x128x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%29 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
    %34 = stablehlo.add %31, %33 : tensor<2x8x128x128xf32>
    %35 = stablehlo.multiply %34, %12 : tensor<2x8x128x128xf32>
    %36 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %37 = stablehlo.divide %35, %36 : tensor<2x8x128x128xf32>
    %38 = stablehlo.dot_general %37, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x8x128x8xf32>) -> tensor<2x8x128x8xf32>
    %39 = stablehlo.transpose %38, dims = [0, 1, 3, 2] : (tensor<2x8x128x8xf32>) -> tensor<2x8x8x128xf32>
    %40 = stablehlo.dot_general %37, %0, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x8x8x128xf32>) -> tensor<2x8x128x8xf32>
    %41 = stablehlo.transpose %39, dims = [0, 1, 3, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x8x128x8xf32>
    return %20, %40, %41, %22 : tensor<2x8x128x8xf32>, tensor<2x8x128x8xf32>, tensor<2x8x128x8xf32>, tensor<2x8x128x8xf32>
  }
}
