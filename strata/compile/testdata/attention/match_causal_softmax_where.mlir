module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x8xf32>, %arg1: tensor<2x128x8x8xf32>, %arg2: tensor<2x128x8x8xf32>, %arg3: tensor<2x128x8x8xf32>) -> (tensor<2x128x8x8xf32> {jax.result_info = "result[0]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[1]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[2]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x8x128x128xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %4 = call @tril(%3) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = call @_where(%4, %2, %cst_0) : (tensor<128x128xi1>, tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128x128xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<2x8x128xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10:2 = call @_where_0(%4, %2, %cst_3) : (tensor<128x128xi1>, tensor<2x8x128x128xf32>, tensor<f32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>)
    %11 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %12 = stablehlo.subtract %10#0, %11 : tensor<2x8x128x128xf32>
    %13 = stablehlo.exponential %12 : tensor<2x8x128x128xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14:2 = call @_where_1(%4, %13, %cst_4) : (tensor<128x128xi1>, tensor<2x8x128x128xf32>, tensor<f32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>)
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14#0 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %18 = stablehlo.divide %13, %17 : tensor<2x8x128x128xf32>
    %19 = stablehlo.multiply %16, %16 : tensor<2x8x128x1xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x8x128x1xf32>
    %21 = stablehlo.divide %20, %19 : tensor<2x8x128x1xf32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %22:2 = call @_where_2(%4, %18, %c_7) : (tensor<128x128xi1>, tensor<2x8x128x128xf32>, tensor<i32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>)
    %23 = stablehlo.dot_general %arg3, %22#0, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %24 = stablehlo.transpose %23, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %25 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x128x8x8xf32>) -> tensor<2x8x8x128xf32>
    %26 = stablehlo.dot_general %25, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %27 = stablehlo.dot_general %25, %22#0, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %28 = stablehlo.transpose %27, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %29 = call @_where_3(%22#1, %26) : (tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32>
    %30 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %31 = stablehlo.multiply %29, %30 : tensor<2x8x128x128xf32>
    %32 = stablehlo.multiply %31, %13 : tensor<2x8x128x128xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %34 = stablehlo.reshape %33 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %35 = stablehlo.negate %34 : tensor<2x8x128x1xf32>
    %36 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %37 = stablehlo.divide %29, %36 : tensor<2x8x128x128xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%35 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
    %40 = call @_where_4(%14#1, %39) : (tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32>
    %41 = stablehlo.add %37, %40 : tensor<2x8x128x128xf32>
    %42 = stablehlo.multiply %41, %13 : tensor<2x8x128x128xf32>
    %43 = call @_where_5(%10#1, %42) : (tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32>
    %cst_10 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %45 = stablehlo.divide %43, %44 : tensor<2x8x128x128xf32>
    %46 = stablehlo.dot_general %45, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %47 = stablehlo.transpose %46, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %48 = stablehlo.dot_general %45, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %49 = stablehlo.transpose %48, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    return %24, %49, %47, %28 : tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>
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
  func.func private @_where(%arg0: tensor<128x128xi1>, %arg1: tensor<2x8x128x128xf32>, %arg2: tensor<f32>) -> tensor<2x8x128x128xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<2x8x128x128xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %2 = stablehlo.select %0, %arg1, %1 : tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
    return %2 : tensor<2x8x128x128xf32>
  }
  func.func private @_where_0(%arg0: tensor<128x128xi1>, %arg1: tensor<2x8x128x128xf32>, %arg2: tensor<f32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<2x8x128x128xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
    return %3, %1 : tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>
  }
  func.func private @_where_1(%arg0: tensor<128x128xi1>, %arg1: tensor<2x8x128x128xf32>, %arg2: tensor<f32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<2x8x128x128xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %2 = stablehlo.select %0, %arg1, %1 : tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
    return %2, %0 : tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>
  }
  func.func private @_where_2(%arg0: tensor<128x128xi1>, %arg1: tensor<2x8x128x128xf32>, %arg2: tensor<i32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>) {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<2x8x128x128xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
    return %3, %1 : tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>
  }
  func.func private @_where_3(%arg0: tensor<2x8x128x128xi1>, %arg1: tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
    return %1 : tensor<2x8x128x128xf32>
  }
  func.func private @_where_4(%arg0: tensor<2x8x128x128xi1>, %arg1: tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
    return %1 : tensor<2x8x128x128xf32>
  }
  func.func private @_where_5(%arg0: tensor<2x8x128x128xi1>, %arg1: tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
    return %1 : tensor<2x8x128x128xf32>
  }
}
