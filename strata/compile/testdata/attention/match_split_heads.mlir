module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x64xf32>, %arg1: tensor<2x128x64xf32>, %arg2: tensor<2x128x64xf32>, %arg3: tensor<2x128x64xf32>) -> (tensor<2x128x64xf32> {jax.result_info = "result[0]"}, tensor<2x128x64xf32> {jax.result_info = "result[1]"}, tensor<2x128x64xf32> {jax.result_info = "result[2]"}, tensor<2x128x64xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg1 : (tensor<2x128x64xf32>) -> tensor<2x128x8x8xf32>
    %1 = stablehlo.transpose %0, dims = [0, 2, 1, 3] : (tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %2 = stablehlo.reshape %arg2 : (tensor<2x128x64xf32>) -> tensor<2x128x8x8xf32>
    %3 = stablehlo.transpose %2, dims = [0, 2, 1, 3] : (tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %4 = stablehlo.transpose %3, dims = [0, 1, 3, 2] : (tensor<2x8x128x8xf32>) -> tensor<2x8x8x128xf32>
    %5 = stablehlo.dot_general %1, %4, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x8xf32>, tensor<2x8x8x128xf32>) -> tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<2.82842708> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %7 = stablehlo.divide %5, %6 : tensor<2x8x128x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %10 = stablehlo.maximum %9, %8 : tensor<2x8x128xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %13 = stablehlo.subtract %7, %12 : tensor<2x8x128x128xf32>
    %14 = stablehlo.exponential %13 : tensor<2x8x128x128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %18 = stablehlo.divide %14, %17 : tensor<2x8x128x128xf32>
    %19 = stablehlo.multiply %16, %16 : tensor<2x8x128x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x8x128x1xf32>
    %21 = stablehlo.divide %20, %19 : tensor<2x8x128x1xf32>
    %22 = stablehlo.reshape %arg3 : (tensor<2x128x64xf32>) -> tensor<2x128x8x8xf32>
    %23 = stablehlo.transpose %22, dims = [0, 2, 1, 3] : (tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %24 = stablehlo.dot_general %18, %23, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x8x128x8xf32>) -> tensor<2x8x128x8xf32>
    %25 = stablehlo.transpose %24, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %26 = stablehlo.reshape %25 : (tensor<2x128x8x8xf32>) -> tensor<2x128x64xf32>
    %27 = stablehlo.reshape %arg0 : (tensor<2x128x64xf32>) -> tensor<2x128x8x8xf32>
    %28 = stablehlo.transpose %27, dims = [0, 2, 1, 3] : (tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %29 = stablehlo.dot_general %28, %18, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x8xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %30 = stablehlo.transpose %29, dims = [0, 1, 3, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x8x128x8xf32>
    %31 = stablehlo.dot_general %28, %23, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x8xf32>, tensor<2x8x128x8xf32>) -> tensor<2x8x128x128xf32>
    %32 = stablehlo.transpose %30, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %33 = stablehlo.reshape %32 : (tensor<2x128x8x8xf32>) -> tensor<2x128x64xf32>
    %34 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %35 = stablehlo.multiply %31, %34 : tensor<2x8x128x128xf32>
    %36 = stablehlo.multiply %35, %14 : tensor<2x8x128x128xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %38 = stablehlo.reshape %37 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %39 = stablehlo.negate %38 : tensor<2x8x128x1xf32>
    %40 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %41 = stablehlo.divide %31, %40 : tensor<2x8x128x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%39 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
    %44 = stablehlo.add %41, %43 : tensor<2x8x128x128xf32>
    %45 = stablehlo.multiply %44, %14 : tensor<2x8x128x128xf32>
    %cst_6 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %47 = stablehlo.divide %45, %46 : tensor<2x8x128x128xf32>
    %48 = stablehlo.dot_general %47, %1, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x8x128x8xf32>) -> tensor<2x8x128x8xf32>
    %49 = stablehlo.transpose %48, dims = [0, 1, 3, 2] : (tensor<2x8x128x8xf32>) -> tensor<2x8x8x128xf32>
    %50 = stablehlo.dot_general %47, %4, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x8x8x128xf32>) -> tensor<2x8x128x8xf32>
    %51 = stablehlo.transpose %49, dims = [0, 1, 3, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x8x128x8xf32>
    %52 = stablehlo.transpose %51, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %53 = stablehlo.reshape %52 : (tensor<2x128x8x8xf32>) -> tensor<2x128x64xf32>
    %54 = stablehlo.transpose %50, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %55 = stablehlo.reshape %54 : (tensor<2x128x8x8xf32>) -> tensor<2x128x64xf32>
    return %26, %55, %53, %33 : tensor<2x128x64xf32>, tensor<2x128x64xf32>, tensor<2x128x64xf32>, tensor<2x128x64xf32>
  }
}
