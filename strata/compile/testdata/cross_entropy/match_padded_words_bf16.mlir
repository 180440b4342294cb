module @jit_padded_words attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xbf16>, %arg1: tensor<16x96xbf16>, %arg2: tensor<4x32xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xbf16> {jax.result_info = "result[1][0]"}, tensor<16x96xbf16> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xbf16>, tensor<16x96xbf16>) -> tensor<4x32x96xbf16>
    %1 = stablehlo.convert %0 : (tensor<4x32x96xbf16>) -> tensor<4x32x96xf32>
    %2 = stablehlo.iota dim = 0 : tensor<96xi32>
    %c = stablehlo.constant dense<90> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<96xi32>
    %4 = stablehlo.compare LT, %2, %3, SIGNED : (tensor<96xi32>, tensor<96xi32>) -> tensor<96xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5:2 = call @_where(%4, %1, %cst) : (tensor<96xi1>, tensor<4x32x96xf32>, tensor<f32>) -> (tensor<4x32x96xf32>, tensor<4x32x96xi1>)
    %c_0 = stablehlo.constant dense<90> : tensor<i32>
    %6 = call @remainder(%arg2, %c_0) : (tensor<4x32xi32>, tensor<i32>) -> tensor<4x32xi32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.reduce(%5#0 init: %cst_1) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %9 = stablehlo.maximum %8, %7 : tensor<4x32xf32>
    %10 = stablehlo.is_finite %9 : (tensor<4x32xf32>) -> tensor<4x32xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %12 = stablehlo.select %10, %9, %11 : tensor<4x32xi1>, tensor<4x32xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %15 = stablehlo.subtract %5#0, %14 : tensor<4x32x96xf32>
    %16 = stablehlo.exponential %15 : tensor<4x32x96xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %18 = stablehlo.abs %17 : tensor<4x32xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %20 = stablehlo.compare GE, %17, %19, FLOAT : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xi1>
    %21 = stablehlo.log %18 : tensor<4x32xf32>
    %22 = stablehlo.add %21, %12 : tensor<4x32xf32>
    %23 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %24:2 = call @take_along_axis(%5#0, %23) : (tensor<4x32x96xf32>, tensor<4x32x1xi32>) -> (tensor<4x32x1xf32>, tensor<4x32x1x1xi32>)
    %25 = stablehlo.reshape %24#0 : (tensor<4x32x1xf32>) -> tensor<4x32xf32>
    %26 = stablehlo.subtract %22, %25 : tensor<4x32xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_7 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %28 = stablehlo.divide %27, %cst_7 : tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_9 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %29 = stablehlo.divide %cst_8, %cst_9 : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %31 = stablehlo.negate %30 : tensor<4x32xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %33 = call @take_along_axis_1(%24#1, %32) : (tensor<4x32x1x1xi32>, tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %34 = stablehlo.divide %30, %18 : tensor<4x32xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %36 = stablehlo.select %20, %35, %34 : tensor<4x32xi1>, tensor<4x32xf32>
    %37 = stablehlo.select %20, %34, %35 : tensor<4x32xi1>, tensor<4x32xf32>
    %38 = stablehlo.negate %36 : tensor<4x32xf32>
    %39 = stablehlo.add %37, %38 : tensor<4x32xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %41 = stablehlo.multiply %40, %16 : tensor<4x32x96xf32>
    %42 = stablehlo.add %33, %41 : tensor<4x32x96xf32>
    %43 = call @_where_2(%5#1, %42) : (tensor<4x32x96xi1>, tensor<4x32x96xf32>) -> tensor<4x32x96xf32>
    %44 = stablehlo.convert %43 : (tensor<4x32x96xf32>) -> tensor<4x32x96xbf16>
    %45 = stablehlo.dot_general %44, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<4x32x16xbf16>) -> tensor<96x16xbf16>
    %46 = stablehlo.transpose %45, dims = [1, 0] : (tensor<96x16xbf16>) -> tensor<16x96xbf16>
    %47 = stablehlo.dot_general %44, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<16x96xbf16>) -> tensor<4x32x16xbf16>
    return %28, %47, %46 : tensor<f32>, tensor<4x32x16xbf16>, tensor<16x96xbf16>
  }
  func.func private @_where(%arg0: tensor<96xi1>, %arg1: tensor<4x32x96xf32>, %arg2: tensor<f32>) -> (tensor<4x32x96xf32>, tensor<4x32x96xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<96xi1>) -> tensor<4x32x96xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<4x32x96xi1>, tensor<4x32x96xf32>
    return %3, %1 : tensor<4x32x96xf32>, tensor<4x32x96xi1>
  }
  func.func private @remainder(%arg0: tensor<4x32xi32>, %arg1: tensor<i32>) -> tensor<4x32xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where_0(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<4x32xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<4x32xi32>, tensor<4x32xi32>) -> tensor<4x32xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<4x32xi32>, tensor<4x32xi32>) -> tensor<4x32xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<4x32xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<4x32xi1>, tensor<4x32xi1>) -> tensor<4x32xi1>
    %12 = stablehlo.and %11, %6 : tensor<4x32xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %14 = stablehlo.add %4, %13 : tensor<4x32xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<4x32xi1>, tensor<4x32xi32>
    return %15 : tensor<4x32xi32>
  }
  func.func private @_where_0(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @take_along_axis(%arg0: tensor<4x32x96xf32>, %arg1: tensor<4x32x1xi32>) -> (tensor<4x32x1xf32>, tensor<4x32x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x32x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x32x1xi32>, tensor<4x32x1xi32>) -> tensor<4x32x1xi1>
    %c_0 = stablehlo.constant dense<96> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x32x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x32x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x32x1xi1>, tensor<4x32x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x32x1xi32>) -> tensor<4x32x1x1xi32>
    %c_1 = stablehlo.constant dense<95> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x32x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x32x1x1xi32>, tensor<4x32x1x1xi32>) -> tensor<4x32x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<4x32x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x32x1x1xi32>, tensor<4x32x1x1xi32>) -> tensor<4x32x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<4x32x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<4x32x1x1xi1>, tensor<i1>) -> tensor<4x32x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x32x96xf32>, tensor<4x32x1x1xi32>) -> tensor<4x32x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<4x32x1xi1>, tensor<4x32x1xf32>
    return %15, %5 : tensor<4x32x1xf32>, tensor<4x32x1x1xi32>
  }
  func.func private @take_along_axis_1(%arg0: tensor<4x32x1x1xi32>, %arg1: tensor<4x32x1xf32>) -> tensor<4x32x96xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x32x96xf32>, tensor<4x32x1x1xi32>, tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    return %1 : tensor<4x32x96xf32>
  }
  func.func private @_where_2(%arg0: tensor<4x32x96xi1>, %arg1: tensor<4x32x96xf32>) -> tensor<4x32x96xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<4x32x96xi1>, tensor<4x32x96xf32>
    return %1 : tensor<4x32x96xf32>
  }
}
