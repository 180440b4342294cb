module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x8xf32>, %arg1: tensor<2x128x8x8xf32>, %arg2: tensor<2x128x8x8xf32>, %arg3: tensor<2x128x8x8xf32>) -> (tensor<2x128x8x8xf32> {jax.result_info = "result[0]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[1]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[2]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<128x128xi32>
    %1 = stablehlo.iota dim = 1 : tensor<128x128xi32>
    %2 = stablehlo.subtract %0, %1 : tensor<128x128xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %c_0 = stablehlo.constant dense<16> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %6 = stablehlo.compare LT, %2, %5, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %7 = stablehlo.and %4, %6 : tensor<128x128xi1>
    %8 = stablehlo.dot_general %arg1, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<2.82842708> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %10 = stablehlo.divide %8, %9 : tensor<2x8x128x128xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11:2 = call @_where(%7, %10, %cst_1) : (tensor<128x128xi1>, tensor<2x8x128x128xf32>, tensor<f32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>)
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.reduce(%11#0 init: %cst_2) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %14 = stablehlo.maximum %13, %12 : tensor<2x8x128xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %17 = stablehlo.subtract %11#0, %16 : tensor<2x8x128x128xf32>
    %18 = stablehlo.exponential %17 : tensor<2x8x128x128xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %22 = stablehlo.divide %18, %21 : tensor<2x8x128x128xf32>
    %23 = stablehlo.multiply %20, %20 : tensor<2x8x128x1xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x8x128x1xf32>
    %25 = stablehlo.divide %24, %23 : tensor<2x8x128x1xf32>
    %26 = stablehlo.dot_general %arg3, %22, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %27 = stablehlo.transpose %26, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %28 = stablehlo.transpose %arg0, dims = [0, 2, 3, 1] : (tensor<2x128x8x8xf32>) -> tensor<2x8x8x128xf32>
    %29 = stablehlo.dot_general %28, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %30 = stablehlo.dot_general %28, %22, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x128xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %31 = stablehlo.transpose %30, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %32 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %33 = stablehlo.multiply %29, %32 : tensor<2x8x128x128xf32>
    %34 = stablehlo.multiply %33, %18 : tensor<2x8x128x128xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %36 = stablehlo.reshape %35 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %37 = stablehlo.negate %36 : tensor<2x8x128x1xf32>
    %38 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %39 = stablehlo.divide %29, %38 : tensor<2x8x128x128xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%37 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
    %42 = stablehlo.add %39, %41 : tensor<2x8x128x128xf32>
    %43 = stablehlo.multiply %42, %18 : tensor<2x8x128x128xf32>
    %44 = call @_where_0(%11#1, %43) : (tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32>
    %cst_8 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %46 = stablehlo.divide %44, %45 : tensor<2x8x128x128xf32>
    %47 = stablehlo.dot_general %46, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %48 = stablehlo.transpose %47, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %49 = stablehlo.dot_general %46, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x8xf32>
    %50 = stablehlo.transpose %49, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    return %27, %50, %48, %31 : tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>
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
