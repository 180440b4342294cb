module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x8xf32>, %arg1: tensor<2x128x8x8xf32>, %arg2: tensor<2x128x8x8xf32>, %arg3: tensor<2x128x8x8xf32>) -> (tensor<2x128x8x8xf32> {jax.result_info = "result[0]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[1]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[2]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %1 = call @tril(%0) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %2 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<2.82842708> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %4 = stablehlo.divide %2, %3 : tensor<2x8x128x128xf32>
    %cst_0 = stablehlo.constant dense<3.000000e+01> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %6 = stablehlo.divide %4, %5 : tensor<2x8x128x128xf32>
    %7 = stablehlo.tanh %6 : tensor<2x8x128x128xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %9 = stablehlo.subtract %8, %7 : tensor<2x8x128x128xf32>
    %cst_2 = stablehlo.constant dense<3.000000e+01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %11 = stablehlo.multiply %10, %7 : tensor<2x8x128x128xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12:2 = call @_where(%1, %11, %cst_3) : (tensor<128x128xi1>, tensor<2x8x128x128xf32>, tensor<f32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>)
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.reduce(%12#0 init: %cst_4) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %15 = stablehlo.maximum %14, %13 : tensor<2x8x128xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %18 = stablehlo.subtract %12#0, %17 : tensor<2x8x128x128xf32>
    %19 = stablehlo.exponential %18 : tensor<2x8x128x128xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %23 = stablehlo.divide %19, %22 : tensor<2x8x128x128xf32>
    %24 = stablehlo.multiply %21, %21 : tensor<2x8x128x1xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x8x128x1xf32>
    %26 = stablehlo.divide %25, %24 : tensor<2x8x128x1xf32>
    %27 = stablehlo.dot_general %arg3, %23, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %28 = stablehlo.transpose %27, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %29 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x128x8x8xf32>) -> tensor<2x8x8x128xf32>
    %30 = stablehlo.dot_general %29, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %31 = stablehlo.dot_general %29, %23, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %32 = stablehlo.transpose %31, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %33 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %34 = stablehlo.multiply %30, %33 : tensor<2x8x128x128xf32>
    %35 = stablehlo.multiply %34, %19 : tensor<2x8x128x128xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %37 = stablehlo.reshape %36 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %38 = stablehlo.negate %37 : tensor<2x8x128x1xf32>
    %39 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %40 = stablehlo.divide %30, %39 : tensor<2x8x128x128xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%38 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
    %43 = stablehlo.add %40, %42 : tensor<2x8x128x128xf32>
    %44 = stablehlo.multiply %43, %19 : tensor<2x8x128x128xf32>
    %45 = call @_where_0(%12#1, %44) : (tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32>
    %cst_10 = stablehlo.constant dense<3.000000e+01> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %47 = stablehlo.multiply %46, %45 : tensor<2x8x128x128xf32>
    %48 = stablehlo.multiply %47, %9 : tensor<2x8x128x128xf32>
    %49 = stablehlo.multiply %48, %7 : tensor<2x8x128x128xf32>
    %50 = stablehlo.add %48, %49 : tensor<2x8x128x128xf32>
    %cst_11 = stablehlo.constant dense<3.000000e+01> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %52 = stablehlo.divide %50, %51 : tensor<2x8x128x128xf32>
    %cst_12 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %54 = stablehlo.divide %52, %53 : tensor<2x8x128x128xf32>
    %55 = stablehlo.dot_general %54, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %56 = stablehlo.transpose %55, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %57 = stablehlo.dot_general %54, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %58 = stablehlo.transpose %57, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    return %28, %58, %56, %32 : tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>
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
  func.func private @_where(%arg0: tensor<128x128xi1>, %arg1: tensor<2x8x128x128xf32>, %arg2: tensor<f32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<2x8x128x128xi1>
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
