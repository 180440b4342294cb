module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x128x8x8xf32>, %arg1: tensor<4x128x8x8xf32>, %arg2: tensor<4x128x4x8xf32>, %arg3: tensor<4x128x4x8xf32>) -> (tensor<4x128x8x8xf32> {jax.result_info = "result[0]"}, tensor<4x128x8x8xf32> {jax.result_info = "result[1]"}, tensor<4x128x4x8xf32> {jax.result_info = "result[2]"}, tensor<4x128x4x8xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg1 : (tensor<4x128x8x8xf32>) -> tensor<4x128x4x2x8xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %2 = call @tril(%1) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %3 = stablehlo.dot_general %arg2, %0, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<4x128x4x8xf32>, tensor<4x128x4x2x8xf32>) -> tensor<4x4x128x128x2xf32>
    %4 = stablehlo.transpose %3, dims = [0, 1, 4, 3, 2] : (tensor<4x4x128x128x2xf32>) -> tensor<4x4x2x128x128xf32>
    %cst = stablehlo.constant dense<2.82842708> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4x2x128x128xf32>
    %6 = stablehlo.divide %4, %5 : tensor<4x4x2x128x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7:2 = call @_where(%2, %6, %cst_0) : (tensor<128x128xi1>, tensor<4x4x2x128x128xf32>, tensor<f32>) -> (tensor<4x4x2x128x128xf32>, tensor<4x4x2x128x128xi1>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.reduce(%7#0 init: %cst_1) applies stablehlo.maximum across dimensions = [4] : (tensor<4x4x2x128x128xf32>, tensor<f32>) -> tensor<4x4x2x128xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x4x2x128xf32>
    %10 = stablehlo.maximum %9, %8 : tensor<4x4x2x128xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<4x4x2x128xf32>) -> tensor<4x4x2x128x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3, 4] : (tensor<4x4x2x128x1xf32>) -> tensor<4x4x2x128x128xf32>
    %13 = stablehlo.subtract %7#0, %12 : tensor<4x4x2x128x128xf32>
    %14 = stablehlo.exponential %13 : tensor<4x4x2x128x128xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_3) applies stablehlo.add across dimensions = [4] : (tensor<4x4x2x128x128xf32>, tensor<f32>) -> tensor<4x4x2x128xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<4x4x2x128xf32>) -> tensor<4x4x2x128x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3, 4] : (tensor<4x4x2x128x1xf32>) -> tensor<4x4x2x128x128xf32>
    %18 = stablehlo.divide %14, %17 : tensor<4x4x2x128x128xf32>
    %19 = stablehlo.multiply %16, %16 : tensor<4x4x2x128x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x4x2x128x1xf32>
    %21 = stablehlo.divide %20, %19 : tensor<4x4x2x128x1xf32>
    %22 = stablehlo.dot_general %arg3, %18, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<4x128x4x8xf32>, tensor<4x4x2x128x128xf32>) -> tensor<4x4x8x2x128xf32>
    %23 = stablehlo.transpose %22, dims = [0, 4, 1, 3, 2] : (tensor<4x4x8x2x128xf32>) -> tensor<4x128x4x2x8xf32>
    %24 = stablehlo.reshape %23 : (tensor<4x128x4x2x8xf32>) -> tensor<4x128x8x8xf32>
    %25 = stablehlo.reshape %arg0 : (tensor<4x128x8x8xf32>) -> tensor<4x128x4x2x8xf32>
    %26 = stablehlo.transpose %25, dims = [0, 2, 4, 3, 1] : (tensor<4x128x4x2x8xf32>) -> tensor<4x4x8x2x128xf32>
    %27 = stablehlo.dot_general %26, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x4x8x2x128xf32>, tensor<4x128x4x8xf32>) -> tensor<4x4x2x128x128xf32>
    %28 = stablehlo.dot_general %26, %18, batching_dims = [0, 1] x [0, 1], contracting_dims = [3, 4] x [2, 3], precision = [DEFAULT, DEFAULT] : (tensor<4x4x8x2x128xf32>, tensor<4x4x2x128x128xf32>) -> tensor<4x4x8x128xf32>
    %29 = stablehlo.transpose %28, dims = [0, 3, 1, 2] : (tensor<4x4x8x128xf32>) -> tensor<4x128x4x8xf32>
    %30 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3, 4] : (tensor<4x4x2x128x1xf32>) -> tensor<4x4x2x128x128xf32>
    %31 = stablehlo.multiply %27, %30 : tensor<4x4x2x128x128xf32>
    %32 = stablehlo.multiply %31, %14 : tensor<4x4x2x128x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_5) applies stablehlo.add across dimensions = [4] : (tensor<4x4x2x128x128xf32>, tensor<f32>) -> tensor<4x4x2x128xf32>
    %34 = stablehlo.reshape %33 : (tensor<4x4x2x128xf32>) -> tensor<4x4x2x128x1xf32>
    %35 = stablehlo.negate %34 : tensor<4x4x2x128x1xf32>
    %36 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3, 4] : (tensor<4x4x2x128x1xf32>) -> tensor<4x4x2x128x128xf32>
    %37 = stablehlo.divide %27, %36 : tensor<4x4x2x128x128xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%35 init: %cst_6) applies stablehlo.add across dimensions = [4] : (tensor<4x4x2x128x1xf32>, tensor<f32>) -> tensor<4x4x2x128xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2, 3] : (tensor<4x4x2x128xf32>) -> tensor<4x4x2x128x128xf32>
    %40 = stablehlo.add %37, %39 : tensor<4x4x2x128x128xf32>
    %41 = stablehlo.multiply %40, %14 : tensor<4x4x2x128x128xf32>
    %42 = call @_where_0(%7#1, %41) : (tensor<4x4x2x128x128xi1>, tensor<4x4x2x128x128xf32>) -> tensor<4x4x2x128x128xf32>
    %cst_7 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x4x2x128x128xf32>
    %44 = stablehlo.divide %42, %43 : tensor<4x4x2x128x128xf32>
    %45 = stablehlo.transpose %44, dims = [0, 1, 4, 3, 2] : (tensor<4x4x2x128x128xf32>) -> tensor<4x4x128x128x2xf32>
    %46 = stablehlo.dot_general %45, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x4x128x128x2xf32>, tensor<4x128x4x8xf32>) -> tensor<4x4x128x2x8xf32>
    %47 = stablehlo.transpose %46, dims = [0, 2, 1, 3, 4] : (tensor<4x4x128x2x8xf32>) -> tensor<4x128x4x2x8xf32>
    %48 = stablehlo.dot_general %45, %0, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<4x4x128x128x2xf32>, tensor<4x128x4x2x8xf32>) -> tensor<4x4x128x8xf32>
    %49 = stablehlo.transpose %48, dims = [0, 2, 1, 3] : (tensor<4x4x128x8xf32>) -> tensor<4x128x4x8xf32>
    %50 = stablehlo.reshape %47 : (tensor<4x128x4x2x8xf32>) -> tensor<4x128x8x8xf32>
    return %24, %50, %49, %29 : tensor<4x128x8x8xf32>, tensor<4x128x8x8xf32>, tensor<4x128x4x8xf32>, tensor<4x128x4x8xf32>
  }
  func.func private @tril(%arg0: tensor<128x128xi1>) -> tensor<128x128xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<128x128xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %2 = stablehlo.add %0, %1 : tensor<128x128xi32>
    %3 = stablehlo.iota dim = 1 : tensor<128x128xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<128x128xi1>, tensor<128x128xi1>
    return %6 : tensor<128x128xi1>
  }
  func.func private @_where(%arg0: tensor<128x128xi1>, %arg1: tensor<4x4x2x128x128xf32>, %arg2: tensor<f32>) -> (tensor<4x4x2x128x128xf32>, tensor<4x4x2x128x128xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3, 4] : (tensor<128x128xi1>) -> tensor<4x4x2x128x128xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x4x2x128x128xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<4x4x2x128x128xi1>, tensor<4x4x2x128x128xf32>
    return %3, %1 : tensor<4x4x2x128x128xf32>, tensor<4x4x2x128x128xi1>
  }
  func.func private @_where_0(%arg0: tensor<4x4x2x128x128xi1>, %arg1: tensor<4x4x2x128x128xf32>) -> tensor<4x4x2x128x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4x2x128x128xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<4x4x2x128x128xi1>, tensor<4x4x2x128x128xf32>
    return %1 : tensor<4x4x2x128x128xf32>
  }
}
