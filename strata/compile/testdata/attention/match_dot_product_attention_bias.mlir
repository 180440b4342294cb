module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x8xf32>, %arg1: tensor<2x128x8x8xf32>, %arg2: tensor<2x128x8x8xf32>, %arg3: tensor<2x128x8x8xf32>, %arg4: tensor<2x1x128x128xf32>) -> (tensor<2x128x8x8xf32> {jax.result_info = "result[0]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[1]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[2]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg1 : (tensor<2x128x8x8xf32>) -> tensor<2x128x8x1x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg4, dims = [0, 1, 3, 4] : (tensor<2x1x128x128xf32>) -> tensor<2x1x1x128x128xf32>
    %2 = stablehlo.dot_general %0, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x1x8xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x1x128xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x1x128xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<2x8x128x1x128xf32>
    %5 = stablehlo.transpose %4, dims = [3, 0, 1, 2, 4] : (tensor<2x8x128x1x128xf32>) -> tensor<1x2x8x128x128xf32>
    %6 = stablehlo.transpose %1, dims = [2, 0, 1, 3, 4] : (tensor<2x1x1x128x128xf32>) -> tensor<1x2x1x128x128xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3, 4] : (tensor<1x2x1x128x128xf32>) -> tensor<1x2x8x128x128xf32>
    %8 = stablehlo.add %5, %7 : tensor<1x2x8x128x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_0) applies stablehlo.maximum across dimensions = [4] : (tensor<1x2x8x128x128xf32>, tensor<f32>) -> tensor<1x2x8x128xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x2x8x128xf32>
    %11 = stablehlo.maximum %10, %9 : tensor<1x2x8x128xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<1x2x8x128xf32>) -> tensor<1x2x8x128x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3, 4] : (tensor<1x2x8x128x1xf32>) -> tensor<1x2x8x128x128xf32>
    %14 = stablehlo.subtract %8, %13 : tensor<1x2x8x128x128xf32>
    %15 = stablehlo.exponential %14 : tensor<1x2x8x128x128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.add across dimensions = [4] : (tensor<1x2x8x128x128xf32>, tensor<f32>) -> tensor<1x2x8x128xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<1x2x8x128xf32>) -> tensor<1x2x8x128x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3, 4] : (tensor<1x2x8x128x1xf32>) -> tensor<1x2x8x128x128xf32>
    %19 = stablehlo.divide %15, %18 : tensor<1x2x8x128x128xf32>
    %20 = stablehlo.multiply %17, %17 : tensor<1x2x8x128x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x8x128x1xf32>
    %22 = stablehlo.divide %21, %20 : tensor<1x2x8x128x1xf32>
    %23 = stablehlo.dot_general %arg3, %19, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<1x2x8x128x128xf32>) -> tensor<2x8x8x1x128xf32>
    %24 = stablehlo.transpose %23, dims = [3, 0, 4, 1, 2] : (tensor<2x8x8x1x128xf32>) -> tensor<1x2x128x8x8xf32>
    %25 = stablehlo.transpose %24, dims = [1, 2, 3, 0, 4] : (tensor<1x2x128x8x8xf32>) -> tensor<2x128x8x1x8xf32>
    %26 = stablehlo.reshape %25 : (tensor<2x128x8x1x8xf32>) -> tensor<2x128x8x8xf32>
    %27 = stablehlo.reshape %arg0 : (tensor<2x128x8x8xf32>) -> tensor<2x128x8x1x8xf32>
    %28 = stablehlo.transpose %27, dims = [3, 0, 1, 2, 4] : (tensor<2x128x8x1x8xf32>) -> tensor<1x2x128x8x8xf32>
    %29 = stablehlo.transpose %28, dims = [1, 3, 4, 0, 2] : (tensor<1x2x128x8x8xf32>) -> tensor<2x8x8x1x128xf32>
    %30 = stablehlo.dot_general %29, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x1x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x1x128x128xf32>
    %31 = stablehlo.transpose %30, dims = [2, 0, 1, 3, 4] : (tensor<2x8x1x128x128xf32>) -> tensor<1x2x8x128x128xf32>
    %32 = stablehlo.dot_general %29, %19, batching_dims = [0, 1] x [1, 2], contracting_dims = [3, 4] x [0, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x1x128xf32>, tensor<1x2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %33 = stablehlo.transpose %32, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %34 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3, 4] : (tensor<1x2x8x128x1xf32>) -> tensor<1x2x8x128x128xf32>
    %35 = stablehlo.multiply %31, %34 : tensor<1x2x8x128x128xf32>
    %36 = stablehlo.multiply %35, %15 : tensor<1x2x8x128x128xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_4) applies stablehlo.add across dimensions = [4] : (tensor<1x2x8x128x128xf32>, tensor<f32>) -> tensor<1x2x8x128xf32>
    %38 = stablehlo.reshape %37 : (tensor<1x2x8x128xf32>) -> tensor<1x2x8x128x1xf32>
    %39 = stablehlo.negate %38 : tensor<1x2x8x128x1xf32>
    %40 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3, 4] : (tensor<1x2x8x128x1xf32>) -> tensor<1x2x8x128x128xf32>
    %41 = stablehlo.divide %31, %40 : tensor<1x2x8x128x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%39 init: %cst_5) applies stablehlo.add across dimensions = [0, 4] : (tensor<1x2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [1, 2, 3] : (tensor<2x8x128xf32>) -> tensor<1x2x8x128xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2, 3] : (tensor<1x2x8x128xf32>) -> tensor<1x2x8x128x128xf32>
    %45 = stablehlo.add %41, %44 : tensor<1x2x8x128x128xf32>
    %46 = stablehlo.multiply %45, %15 : tensor<1x2x8x128x128xf32>
    %47 = stablehlo.transpose %46, dims = [1, 2, 3, 0, 4] : (tensor<1x2x8x128x128xf32>) -> tensor<2x8x128x1x128xf32>
    %cst_6 = stablehlo.constant dense<0.353553385> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x8x128x1x128xf32>
    %49 = stablehlo.multiply %47, %48 : tensor<2x8x128x1x128xf32>
    %50 = stablehlo.dot_general %49, %0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2, 3] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x1x128xf32>, tensor<2x128x8x1x8xf32>) -> tensor<2x8x128x8xf32>
    %51 = stablehlo.transpose %50, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %52 = stablehlo.dot_general %49, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x1x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x1x8xf32>
    %53 = stablehlo.transpose %52, dims = [0, 2, 1, 3, 4] : (tensor<2x8x128x1x8xf32>) -> tensor<2x128x8x1x8xf32>
    %54 = stablehlo.reshape %53 : (tensor<2x128x8x1x8xf32>) -> tensor<2x128x8x8xf32>
    return %26, %54, %51, %33 : tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>
  }
}
