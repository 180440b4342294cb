module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x8xbf16>, %arg1: tensor<2x128x8x8xbf16>, %arg2: tensor<2x128x8x8xbf16>, %arg3: tensor<2x128x8x8xbf16>) -> (tensor<2x128x8x8xbf16> {jax.result_info = "result[0]"}, tensor<2x128x8x8xbf16> {jax.result_info = "result[1]"}, tensor<2x128x8x8xbf16> {jax.result_info = "result[2]"}, tensor<2x128x8x8xbf16> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xbf16>, tensor<2x128x8x8xbf16>) -> tensor<2x8x128x128xf32>
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
    %17 = stablehlo.convert %13 : (tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xbf16>
    %18 = stablehlo.dot_general %arg3, %17, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xbf16>, tensor<2x8x128x128xbf16>) -> tensor<2x8x8x128xbf16>
    %19 = stablehlo.transpose %18, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xbf16>) -> tensor<2x128x8x8xbf16>
    %20 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x128x8x8xbf16>) -> tensor<2x8x8x128xbf16>
    %21 = stablehlo.dot_general %20, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xbf16>, tensor<2x128x8x8xbf16>) -> tensor<2x8x128x128xbf16>
    %22 = stablehlo.dot_general %20, %17, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xbf16>, tensor<2x8x128x128xbf16>) -> tensor<2x8x8x128xbf16>
    %23 = stablehlo.transpose %22, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xbf16>) -> tensor<2x128x8x8xbf16>
    %24 = stablehlo.convert %21 : (tensor<2x8x128x128xbf16>) -> tensor<2x8x128x128xf32>
    %25 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %26 = stablehlo.multiply %24, %25 : tensor<2x8x128x128xf32>
    %27 = stablehlo.multiply %26, %9 : tensor<2x8x128x128xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %29 = stablehlo.reshape %28 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %30 = stablehlo.negate %29 : tensor<2x8x128x1xf32>
    %31 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %32 = stablehlo.divide %24, %31 : tensor<2x8x128x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%30 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
    %35 = stablehlo.add %32, %34 : tensor<2x8x128x128xf32>
    %36 = stablehlo.multiply %35, %9 : tensor<2x8x128x128xf32>
    %cst_6 = stablehlo.constant dense<0.353553385> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %38 = stablehlo.multiply %36, %37 : tensor<2x8x128x128xf32>
    %39 = stablehlo.convert %38 : tensor<2x8x128x128xf32>
    %40 = stablehlo.convert %arg1 : (tensor<2x128x8x8xbf16>) -> tensor<2x128x8x8xf32>
    %41 = stablehlo.dot_general %39, %40, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %42 = stablehlo.transpose %41, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %43 = stablehlo.convert %42 : (tensor<2x128x8x8xf32>) -> tensor<2x128x8x8xbf16>
    %44 = stablehlo.convert %38 : tensor<2x8x128x128xf32>
    %45 = stablehlo.convert %arg2 : (tensor<2x128x8x8xbf16>) -> tensor<2x128x8x8xf32>
    %46 = stablehlo.dot_general %44, %45, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %47 = stablehlo.transpose %46, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %48 = stablehlo.convert %47 : (tensor<2x128x8x8xf32>) -> tensor<2x128x8x8xbf16>
    return %19, %48, %43, %23 : tensor<2x128x8x8xbf16>, tensor<2x128x8x8xbf16>, tensor<2x128x8x8xbf16>, tensor<2x128x8x8xbf16>
  }
}
