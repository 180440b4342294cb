module @jit_read_by_a_loop attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x8xf32>, %arg1: tensor<2x128x8x8xf32>, %arg2: tensor<2x128x8x8xf32>) -> (tensor<2x128x8x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x8x128x128xf32>
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
    %c = stablehlo.constant dense<0> : tensor<i32>
    %14:3 = stablehlo.while(%iterArg = %13, %iterArg_3 = %c, %iterArg_4 = %arg2) : tensor<2x8x128x128xf32>, tensor<i32>, tensor<2x128x8x8xf32>
    cond {
      %c_5 = stablehlo.constant dense<3> : tensor<i32>
      %15 = stablehlo.compare LT, %iterArg_3, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %15 : tensor<i1>
    } do {
      %15 = func.call @closed_call(%iterArg, %iterArg_4) : (tensor<2x8x128x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x128x8x8xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %16 = stablehlo.add %iterArg_3, %c_5 : tensor<i32>
      stablehlo.return %iterArg, %16, %15 : tensor<2x8x128x128xf32>, tensor<i32>, tensor<2x128x8x8xf32>
    }
    return %14#2 : tensor<2x128x8x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<2x8x128x128xf32>, %arg1: tensor<2x128x8x8xf32>) -> tensor<2x128x8x8xf32> {
    %0 = stablehlo.sine %arg1 : tensor<2x128x8x8xf32>
    %1 = stablehlo.dot_general %0, %arg0, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %2 = stablehlo.transpose %1, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    return %2 : tensor<2x128x8x8xf32>
  }
}
