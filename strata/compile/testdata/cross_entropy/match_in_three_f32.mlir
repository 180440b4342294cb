module @jit_in_three attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xf32>, %arg1: tensor<16x96xf32>, %arg2: tensor<4x32xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xf32> {jax.result_info = "result[1][0]"}, tensor<16x96xf32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xf32>, tensor<16x96xf32>) -> tensor<4x32x96xf32>
    %1:3 = call @log_softmax(%0) : (tensor<4x32x96xf32>) -> (tensor<4x32x96xf32>, tensor<4x32x96xf32>, tensor<4x32x1xf32>)
    %2 = stablehlo.iota dim = 0 : tensor<4xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %4 = stablehlo.iota dim = 0 : tensor<32xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %6 = stablehlo.compare LT, %3, %5, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %8 = stablehlo.add %3, %7 : tensor<4x1xi32>
    %9 = stablehlo.select %6, %8, %3 : tensor<4x1xi1>, tensor<4x1xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %11 = stablehlo.compare LT, %4, %10, SIGNED : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
    %c_2 = stablehlo.constant dense<32> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %13 = stablehlo.add %4, %12 : tensor<32xi32>
    %14 = stablehlo.select %11, %13, %4 : tensor<32xi1>, tensor<32xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %16 = stablehlo.compare LT, %arg2, %15, SIGNED : (tensor<4x32xi32>, tensor<4x32xi32>) -> tensor<4x32xi1>
    %c_4 = stablehlo.constant dense<96> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %18 = stablehlo.add %arg2, %17 : tensor<4x32xi32>
    %19 = stablehlo.select %16, %18, %arg2 : tensor<4x32xi1>, tensor<4x32xi32>
    %20 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x1xi32>) -> tensor<4x32xi32>
    %21 = stablehlo.broadcast_in_dim %14, dims = [1] : (tensor<32xi32>) -> tensor<4x32xi32>
    %22 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %23 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %24 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %25 = stablehlo.concatenate %22, %23, %24, dim = 2 : (tensor<4x32x1xi32>, tensor<4x32x1xi32>, tensor<4x32x1xi32>) -> tensor<4x32x3xi32>
    %26 = "stablehlo.gather"(%1#0, %25) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [0, 1, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x32x96xf32>, tensor<4x32x3xi32>) -> tensor<4x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %28 = stablehlo.divide %27, %cst_5 : tensor<f32>
    %29 = stablehlo.negate %28 : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.negate %cst_6 : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %31 = stablehlo.divide %30, %cst_7 : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %34 = "stablehlo.scatter"(%33, %25, %32) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [0, 1, 2], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %39 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %39 : tensor<f32>
    }) : (tensor<4x32x96xf32>, tensor<4x32x3xi32>, tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %35 = call @log_softmax_0(%1#1, %1#2, %34) : (tensor<4x32x96xf32>, tensor<4x32x1xf32>, tensor<4x32x96xf32>) -> tensor<4x32x96xf32>
    %36 = stablehlo.dot_general %35, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xf32>, tensor<4x32x16xf32>) -> tensor<96x16xf32>
    %37 = stablehlo.transpose %36, dims = [1, 0] : (tensor<96x16xf32>) -> tensor<16x96xf32>
    %38 = stablehlo.dot_general %35, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xf32>, tensor<16x96xf32>) -> tensor<4x32x16xf32>
    return %29, %38, %37 : tensor<f32>, tensor<4x32x16xf32>, tensor<16x96xf32>
  }
  func.func private @log_softmax(%arg0: tensor<4x32x96xf32>) -> (tensor<4x32x96xf32>, tensor<4x32x96xf32>, tensor<4x32x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<4x32xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x32x96xf32>
    %6 = stablehlo.exponential %5 : tensor<4x32x96xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %9 = stablehlo.log %8 : tensor<4x32x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<4x32x96xf32>
    return %11, %6, %8 : tensor<4x32x96xf32>, tensor<4x32x96xf32>, tensor<4x32x1xf32>
  }
  func.func private @log_softmax_0(%arg0: tensor<4x32x96xf32>, %arg1: tensor<4x32x1xf32>, %arg2: tensor<4x32x96xf32>) -> tensor<4x32x96xf32> {
    %0 = stablehlo.negate %arg2 : tensor<4x32x96xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %2 = stablehlo.reshape %1 : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<4x32x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<4x32x1xf32>, tensor<f32>) -> tensor<4x32xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<4x32x96xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<4x32x96xf32>
    return %7 : tensor<4x32x96xf32>
  }
}
