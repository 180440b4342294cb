module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x8xf32>, %arg1: tensor<2x128x8x8xf32>, %arg2: tensor<2x128x8x8xf32>, %arg3: tensor<2x128x8x8xf32>) -> (tensor<2x128x8x8xf32> {jax.result_info = "result[0]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[1]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[2]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<8xi32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %2 = stablehlo.add %1, %0 : tensor<8xi32>
    %3 = stablehlo.negate %2 : tensor<8xi32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.convert %3 : (tensor<8xi32>) -> tensor<8xf32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %6 = stablehlo.power %5, %4 : tensor<8xf32>
    %7 = stablehlo.iota dim = 0 : tensor<128xi32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<128xi32>) -> tensor<1x128xi32>
    %9 = stablehlo.iota dim = 0 : tensor<128xi32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x128xi32>) -> tensor<128x128xi32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<128x1xi32>) -> tensor<128x128xi32>
    %13 = stablehlo.subtract %11, %12 : tensor<128x128xi32>
    %14 = stablehlo.convert %13 : (tensor<128x128xi32>) -> tensor<128x128xf32>
    %15 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %cst_0 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %17 = stablehlo.divide %15, %16 : tensor<2x8x128x128xf32>
    %18 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<8xf32>) -> tensor<8x1x1xf32>
    %19 = stablehlo.broadcast_in_dim %14, dims = [1, 2] : (tensor<128x128xf32>) -> tensor<1x128x128xf32>
    %20 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<8x1x1xf32>) -> tensor<8x128x128xf32>
    %21 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x128x128xf32>) -> tensor<8x128x128xf32>
    %22 = stablehlo.multiply %20, %21 : tensor<8x128x128xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [1, 2, 3] : (tensor<8x128x128xf32>) -> tensor<1x8x128x128xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<1x8x128x128xf32>) -> tensor<2x8x128x128xf32>
    %25 = stablehlo.add %17, %24 : tensor<2x8x128x128xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %28 = stablehlo.maximum %27, %26 : tensor<2x8x128xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %31 = stablehlo.subtract %25, %30 : tensor<2x8x128x128xf32>
    %32 = stablehlo.exponential %31 : tensor<2x8x128x128xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %36 = stablehlo.divide %32, %35 : tensor<2x8x128x128xf32>
    %37 = stablehlo.multiply %34, %34 : tensor<2x8x128x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x8x128x1xf32>
    %39 = stablehlo.divide %38, %37 : tensor<2x8x128x1xf32>
    %40 = stablehlo.dot_general %arg3, %36, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %41 = stablehlo.transpose %40, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %42 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x128x8x8xf32>) -> tensor<2x8x8x128xf32>
    %43 = stablehlo.dot_general %42, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %44 = stablehlo.dot_general %42, %36, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %45 = stablehlo.transpose %44, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %46 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %47 = stablehlo.multiply %43, %46 : tensor<2x8x128x128xf32>
    %48 = stablehlo.multiply %47, %32 : tensor<2x8x128x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%48 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %50 = stablehlo.reshape %49 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %51 = stablehlo.negate %50 : tensor<2x8x128x1xf32>
    %52 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %53 = stablehlo.divide %43, %52 : tensor<2x8x128x128xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%51 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
    %56 = stablehlo.add %53, %55 : tensor<2x8x128x128xf32>
    %57 = stablehlo.multiply %56, %32 : tensor<2x8x128x128xf32>
    %cst_7 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %59 = stablehlo.divide %57, %58 : tensor<2x8x128x128xf32>
    %60 = stablehlo.dot_general %59, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %61 = stablehlo.transpose %60, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %62 = stablehlo.dot_general %59, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %63 = stablehlo.transpose %62, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    return %41, %63, %61, %45 : tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>
  }
}
