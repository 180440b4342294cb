module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x8xbf16>, %arg1: tensor<2x128x8x8xbf16>, %arg2: tensor<2x128x8x8xbf16>, %arg3: tensor<2x128x8x8xbf16>) -> (tensor<2x128x8x8xbf16> {jax.result_info = "result[0]"}, tensor<2x128x8x8xbf16> {jax.result_info = "result[1]"}, tensor<2x128x8x8xbf16> {jax.result_info = "result[2]"}, tensor<2x128x8x8xbf16> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %1 = call @tril(%0) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %2 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xbf16>, tensor<2x128x8x8xbf16>) -> tensor<2x8x128x128xbf16>
    %cst = stablehlo.constant dense<2.828130e+00> : tensor<bf16>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x8x128x128xbf16>
    %4 = stablehlo.divide %2, %3 : tensor<2x8x128x128xbf16>
    %5 = stablehlo.convert %4 : (tensor<2x8x128x128xbf16>) -> tensor<2x8x128x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6:2 = call @_where(%1, %5, %cst_0) : (tensor<128x128xi1>, tensor<2x8x128x128xf32>, tensor<f32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.reduce(%6#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %9 = stablehlo.maximum %8, %7 : tensor<2x8x128xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %12 = stablehlo.subtract %6#0, %11 : tensor<2x8x128x128xf32>
    %13 = stablehlo.exponential %12 : tensor<2x8x128x128xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %17 = stablehlo.divide %13, %16 : tensor<2x8x128x128xf32>
    %18 = stablehlo.multiply %15, %15 : tensor<2x8x128x1xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x8x128x1xf32>
    %20 = stablehlo.divide %19, %18 : tensor<2x8x128x1xf32>
    %21 = stablehlo.convert %17 : (tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xbf16>
    %22 = stablehlo.dot_general %arg3, %21, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xbf16>, tensor<2x8x128x128xbf16>) -> tensor<2x8x8x128xbf16>
    %23 = stablehlo.transpose %22, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xbf16>) -> tensor<2x128x8x8xbf16>
    %24 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x128x8x8xbf16>) -> tensor<2x8x8x128xbf16>
    %25 = stablehlo.dot_general %24, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xbf16>, tensor<2x128x8x8xbf16>) -> tensor<2x8x128x128xbf16>
    %26 = stablehlo.dot_general %24, %21, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xbf16>, tensor<2x8x128x128xbf16>) -> tensor<2x8x8x128xbf16>
    %27 = stablehlo.transpose %26, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xbf16>) -> tensor<2x128x8x8xbf16>
    %28 = stablehlo.convert %25 : (tensor<2x8x128x128xbf16>) -> tensor<2x8x128x128xf32>
    %29 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %30 = stablehlo.multiply %28, %29 : tensor<2x8x128x128xf32>
    %31 = stablehlo.multiply %30, %13 : tensor<2x8x128x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %33 = stablehlo.reshape %32 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %34 = stablehlo.negate %33 : tensor<2x8x128x1xf32>
    %35 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %36 = stablehlo.divide %28, %35 : tensor<2x8x128x128xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%34 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
    %39 = stablehlo.add %36, %38 : tensor<2x8x128x128xf32>
    %40 = stablehlo.multiply %39, %13 : tensor<2x8x128x128xf32>
    %41 = call @_where_0(%6#1, %40) : (tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32>
    %42 = stablehlo.convert %41 : (tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xbf16>
    %cst_7 = stablehlo.constant dense<2.828130e+00> : tensor<bf16>
    %43 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<bf16>) -> tensor<2x8x128x128xbf16>
    %44 = stablehlo.divide %42, %43 : tensor<2x8x128x128xbf16>
    %45 = stablehlo.dot_general %44, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xbf16>, tensor<2x128x8x8xbf16>) -> tensor<2x8x128x8xbf16>
    %46 = stablehlo.transpose %45, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xbf16>) -> tensor<2x128x8x8xbf16>
    %47 = stablehlo.dot_general %44, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xbf16>, tensor<2x128x8x8xbf16>) -> tensor<2x8x128x8xbf16>
    %48 = stablehlo.transpose %47, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xbf16>) -> tensor<2x128x8x8xbf16>
    return %23, %48, %46, %27 : tensor<2x128x8x8xbf16>, tensor<2x128x8x8xbf16>, tensor<2x128x8x8xbf16>, tensor<2x128x8x8xbf16>
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
