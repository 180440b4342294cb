module @jit_in_three attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xbf16>, %arg1: tensor<16x96xbf16>, %arg2: tensor<4x32xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xbf16> {jax.result_info = "result[1][0]"}, tensor<16x96xbf16> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xbf16>, tensor<16x96xbf16>) -> tensor<4x32x96xbf16>
    %1 = stablehlo.convert %0 : (tensor<4x32x96xbf16>) -> tensor<4x32x96xf32>
    %2:3 = call @log_softmax(%1) : (tensor<4x32x96xf32>) -> (tensor<4x32x96xf32>, tensor<4x32x96xf32>, tensor<4x32x1xf32>)
    %3 = stablehlo.iota dim = 0 : tensor<4xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %5 = stablehlo.iota dim = 0 : tensor<32xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %7 = stablehlo.compare LT, %4, %6, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %9 = stablehlo.add %4, %8 : tensor<4x1xi32>
    %10 = stablehlo.select %7, %9, %4 : tensor<4x1xi1>, tensor<4x1xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %12 = stablehlo.compare LT, %5, %11, SIGNED : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
    %c_2 = stablehlo.constant dense<32> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %14 = stablehlo.add %5, %13 : tensor<32xi32>
    %15 = stablehlo.select %12, %14, %5 : tensor<32xi1>, tensor<32xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %16 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %17 = stablehlo.compare LT, %arg2, %16, SIGNED : (tensor<4x32xi32>, tensor<4x32xi32>) -> tensor<4x32xi1>
    %c_4 = stablehlo.constant dense<96> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %19 = stablehlo.add %arg2, %18 : tensor<4x32xi32>
    %20 = stablehlo.select %17, %19, %arg2 : tensor<4x32xi1>, tensor<4x32xi32>
    %21 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<4x1xi32>) -> tensor<4x32xi32>
    %22 = stablehlo.broadcast_in_dim %15, dims = [1] : (tensor<32xi32>) -> tensor<4x32xi32>
    %23 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %25 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %26 = stablehlo.concatenate %23, %24, %25, dim = 2 : (tensor<4x32x1xi32>, tensor<4x32x1xi32>, tensor<4x32x1xi32>) -> tensor<4x32x3xi32>
    %27 = "stablehlo.gather"(%2#0, %26) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [0, 1, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x32x96xf32>, tensor<4x32x3xi32>) -> tensor<4x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %29 = stablehlo.divide %28, %cst_5 : tensor<f32>
    %30 = stablehlo.negate %29 : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.negate %cst_6 : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %32 = stablehlo.divide %31, %cst_7 : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %35 = "stablehlo.scatter"(%34, %26, %33) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [0, 1, 2], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %41 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %41 : tensor<f32>
    }) : (tensor<4x32x96xf32>, tensor<4x32x3xi32>, tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %36 = call @log_softmax_0(%2#1, %2#2, %35) : (tensor<4x32x96xf32>, tensor<4x32x1xf32>, tensor<4x32x96xf32>) -> tensor<4x32x96xf32>
    %37 = stablehlo.convert %36 : (tensor<4x32x96xf32>) -> tensor<4x32x96xbf16>
    %38 = stablehlo.dot_general %37, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<4x32x16xbf16>) -> tensor<96x16xbf16>
    %39 = stablehlo.transpose %38, dims = [1, 0] : (tensor<96x16xbf16>) -> tensor<16x96xbf16>
    %40 = stablehlo.dot_general %37, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<16x96xbf16>) -> tensor<4x32x16xbf16>
    return %30, %40, %39 : tensor<f32>, tensor<4x32x16xbf16>, tensor<16x96xbf16>
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
