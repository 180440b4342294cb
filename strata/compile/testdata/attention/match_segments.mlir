module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x8xf32>, %arg1: tensor<2x128x8x8xf32>, %arg2: tensor<2x128x8x8xf32>, %arg3: tensor<2x128x8x8xf32>, %arg4: tensor<2x128xi32>) -> (tensor<2x128x8x8xf32> {jax.result_info = "result[0]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[1]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[2]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.broadcast_in_dim %arg4, dims = [0, 1] : (tensor<2x128xi32>) -> tensor<2x128x1xi32>
    %1 = stablehlo.broadcast_in_dim %arg4, dims = [0, 2] : (tensor<2x128xi32>) -> tensor<2x1x128xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<2x128x1xi32>) -> tensor<2x128x128xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<2x1x128xi32>) -> tensor<2x128x128xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<2x128x128xi32>, tensor<2x128x128xi32>) -> tensor<2x128x128xi1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 2, 3] : (tensor<2x128x128xi1>) -> tensor<2x1x128x128xi1>
    %6 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<2.82842708> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %8 = stablehlo.divide %6, %7 : tensor<2x8x128x128xf32>
    %cst_0 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %9:2 = call @_where(%5, %8, %cst_0) : (tensor<2x1x128x128xi1>, tensor<2x8x128x128xf32>, tensor<f32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.reduce(%9#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %12 = stablehlo.maximum %11, %10 : tensor<2x8x128xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %15 = stablehlo.subtract %9#0, %14 : tensor<2x8x128x128xf32>
    %16 = stablehlo.exponential %15 : tensor<2x8x128x128xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %20 = stablehlo.divide %16, %19 : tensor<2x8x128x128xf32>
    %21 = stablehlo.multiply %18, %18 : tensor<2x8x128x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x8x128x1xf32>
    %23 = stablehlo.divide %22, %21 : tensor<2x8x128x1xf32>
    %24 = stablehlo.dot_general %arg3, %20, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %25 = stablehlo.transpose %24, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %26 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x128x8x8xf32>) -> tensor<2x8x8x128xf32>
    %27 = stablehlo.dot_general %26, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %28 = stablehlo.dot_general %26, %20, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %29 = stablehlo.transpose %28, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %30 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %31 = stablehlo.multiply %27, %30 : tensor<2x8x128x128xf32>
    %32 = stablehlo.multiply %31, %16 : tensor<2x8x128x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %34 = stablehlo.reshape %33 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %35 = stablehlo.negate %34 : tensor<2x8x128x1xf32>
    %36 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %37 = stablehlo.divide %27, %36 : tensor<2x8x128x128xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%35 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
    %40 = stablehlo.add %37, %39 : tensor<2x8x128x128xf32>
    %41 = stablehlo.multiply %40, %16 : tensor<2x8x128x128xf32>
    %42 = call @_where_0(%9#1, %41) : (tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32>
    %cst_7 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %44 = stablehlo.divide %42, %43 : tensor<2x8x128x128xf32>
    %45 = stablehlo.dot_general %44, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %46 = stablehlo.transpose %45, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %47 = stablehlo.dot_general %44, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %48 = stablehlo.transpose %47, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    return %25, %48, %46, %29 : tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>
  }
  func.func private @_where(%arg0: tensor<2x1x128x128xi1>, %arg1: tensor<2x8x128x128xf32>, %arg2: tensor<f32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<2x1x128x128xi1>) -> tensor<2x8x128x128xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
    return %3, %1 : tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>
  }
  func.func private @_where_0(%arg0: tensor<2x8x128x128xi1>, %arg1: tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
    return %1 : tensor<2x8x128x128xf32>
  }
}
