module @jit_indexed attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xbf16>, %arg1: tensor<16x96xbf16>, %arg2: tensor<4x32xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xbf16> {jax.result_info = "result[1][0]"}, tensor<16x96xbf16> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4x32x16xbf16>) -> tensor<128x16xbf16>
    %1 = stablehlo.reshape %arg2 : (tensor<4x32xi32>) -> tensor<128xi32>
    %2 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x16xbf16>, tensor<16x96xbf16>) -> tensor<128x96xbf16>
    %3 = stablehlo.convert %2 : (tensor<128x96xbf16>) -> tensor<128x96xf32>
    %4:3 = call @log_softmax(%3) : (tensor<128x96xf32>) -> (tensor<128x96xf32>, tensor<128x96xf32>, tensor<128x1xf32>)
    %5 = stablehlo.iota dim = 0 : tensor<128xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %7 = stablehlo.compare LT, %5, %6, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_0 = stablehlo.constant dense<128> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %9 = stablehlo.add %5, %8 : tensor<128xi32>
    %10 = stablehlo.select %7, %9, %5 : tensor<128xi1>, tensor<128xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %12 = stablehlo.compare LT, %1, %11, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_2 = stablehlo.constant dense<96> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %14 = stablehlo.add %1, %13 : tensor<128xi32>
    %15 = stablehlo.select %12, %14, %1 : tensor<128xi1>, tensor<128xi32>
    %16 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %17 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %18 = stablehlo.concatenate %16, %17, dim = 1 : (tensor<128x1xi32>, tensor<128x1xi32>) -> tensor<128x2xi32>
    %19 = "stablehlo.gather"(%4#0, %18) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<128x96xf32>, tensor<128x2xi32>) -> tensor<128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<128xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %21 = stablehlo.divide %20, %cst_3 : tensor<f32>
    %22 = stablehlo.negate %21 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.negate %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %24 = stablehlo.divide %23, %cst_5 : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<128x96xf32>
    %27 = "stablehlo.scatter"(%26, %18, %25) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %34 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %34 : tensor<f32>
    }) : (tensor<128x96xf32>, tensor<128x2xi32>, tensor<128xf32>) -> tensor<128x96xf32>
    %28 = call @log_softmax_0(%4#1, %4#2, %27) : (tensor<128x96xf32>, tensor<128x1xf32>, tensor<128x96xf32>) -> tensor<128x96xf32>
    %29 = stablehlo.convert %28 : (tensor<128x96xf32>) -> tensor<128x96xbf16>
    %30 = stablehlo.dot_general %29, %0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x96xbf16>, tensor<128x16xbf16>) -> tensor<96x16xbf16>
    %31 = stablehlo.transpose %30, dims = [1, 0] : (tensor<96x16xbf16>) -> tensor<16x96xbf16>
    %32 = stablehlo.dot_general %29, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<128x96xbf16>, tensor<16x96xbf16>) -> tensor<128x16xbf16>
    %33 = stablehlo.reshape %32 : (tensor<128x16xbf16>) -> tensor<4x32x16xbf16>
    return %22, %33, %31 : tensor<f32>, tensor<4x32x16xbf16>, tensor<16x96xbf16>
  }
  func.func private @log_softmax(%arg0: tensor<128x96xf32>) -> (tensor<128x96xf32>, tensor<128x96xf32>, tensor<128x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<128x96xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<128xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x96xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<128x96xf32>
    %6 = stablehlo.exponential %5 : tensor<128x96xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<128x96xf32>, tensor<f32>) -> tensor<128xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %9 = stablehlo.log %8 : tensor<128x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x96xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<128x96xf32>
    return %11, %6, %8 : tensor<128x96xf32>, tensor<128x96xf32>, tensor<128x1xf32>
  }
  func.func private @log_softmax_0(%arg0: tensor<128x96xf32>, %arg1: tensor<128x1xf32>, %arg2: tensor<128x96xf32>) -> tensor<128x96xf32> {
    %0 = stablehlo.negate %arg2 : tensor<128x96xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<128x96xf32>, tensor<f32>) -> tensor<128xf32>
    %2 = stablehlo.reshape %1 : (tensor<128xf32>) -> tensor<128x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<128x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<128x1xf32>, tensor<f32>) -> tensor<128xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<128xf32>) -> tensor<128x96xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<128x96xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<128x96xf32>
    return %7 : tensor<128x96xf32>
  }
}
