module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xbf16>, %arg1: tensor<16x96xbf16>, %arg2: tensor<4x32xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xbf16> {jax.result_info = "result[1][0]"}, tensor<16x96xbf16> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xbf16>, tensor<16x96xbf16>) -> tensor<4x32x96xbf16>
    %1 = stablehlo.convert %0 : (tensor<4x32x96xbf16>) -> tensor<4x32x96xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %4 = stablehlo.maximum %3, %2 : tensor<4x32xf32>
    %5 = stablehlo.is_finite %4 : (tensor<4x32xf32>) -> tensor<4x32xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %7 = stablehlo.select %5, %4, %6 : tensor<4x32xi1>, tensor<4x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %10 = stablehlo.subtract %1, %9 : tensor<4x32x96xf32>
    %11 = stablehlo.exponential %10 : tensor<4x32x96xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %13 = stablehlo.abs %12 : tensor<4x32xf32>
    %14 = stablehlo.log %13 : tensor<4x32xf32>
    %15 = stablehlo.add %14, %7 : tensor<4x32xf32>
    %16 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %17 = call @take_along_axis(%1, %16) : (tensor<4x32x96xf32>, tensor<4x32x1xi32>) -> tensor<4x32x1xf32>
    %18 = stablehlo.reshape %17 : (tensor<4x32x1xf32>) -> tensor<4x32xf32>
    %19 = stablehlo.subtract %15, %18 : tensor<4x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %21 = stablehlo.divide %20, %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %22 = stablehlo.divide %cst_5, %cst_6 : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %24:4 = stablehlo.optimization_barrier %arg2, %arg0, %arg1, %23 : tensor<4x32xi32>, tensor<4x32x16xbf16>, tensor<16x96xbf16>, tensor<4x32xf32>
    %25 = stablehlo.dot_general %24#1, %24#2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xbf16>, tensor<16x96xbf16>) -> tensor<4x32x96xbf16>
    %26 = stablehlo.convert %25 : (tensor<4x32x96xbf16>) -> tensor<4x32x96xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_7) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %29 = stablehlo.maximum %28, %27 : tensor<4x32xf32>
    %30 = stablehlo.is_finite %29 : (tensor<4x32xf32>) -> tensor<4x32xi1>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %32 = stablehlo.select %30, %29, %31 : tensor<4x32xi1>, tensor<4x32xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %35 = stablehlo.subtract %26, %34 : tensor<4x32x96xf32>
    %36 = stablehlo.exponential %35 : tensor<4x32x96xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %38 = stablehlo.abs %37 : tensor<4x32xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %40 = stablehlo.compare GE, %37, %39, FLOAT : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xi1>
    %41 = stablehlo.broadcast_in_dim %24#0, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %42 = call @take_along_axis_0(%41) : (tensor<4x32x1xi32>) -> tensor<4x32x1x1xi32>
    %43 = stablehlo.negate %24#3 : tensor<4x32xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %45 = call @take_along_axis_1(%42, %44) : (tensor<4x32x1x1xi32>, tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %46 = stablehlo.divide %24#3, %38 : tensor<4x32xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %48 = stablehlo.select %40, %47, %46 : tensor<4x32xi1>, tensor<4x32xf32>
    %49 = stablehlo.select %40, %46, %47 : tensor<4x32xi1>, tensor<4x32xf32>
    %50 = stablehlo.negate %48 : tensor<4x32xf32>
    %51 = stablehlo.add %49, %50 : tensor<4x32xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %53 = stablehlo.multiply %52, %36 : tensor<4x32x96xf32>
    %54 = stablehlo.add %45, %53 : tensor<4x32x96xf32>
    %55 = stablehlo.convert %54 : (tensor<4x32x96xf32>) -> tensor<4x32x96xbf16>
    %56 = stablehlo.dot_general %55, %24#1, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<4x32x16xbf16>) -> tensor<96x16xbf16>
    %57 = stablehlo.transpose %56, dims = [1, 0] : (tensor<96x16xbf16>) -> tensor<16x96xbf16>
    %58 = stablehlo.dot_general %55, %24#2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<16x96xbf16>) -> tensor<4x32x16xbf16>
    return %21, %58, %57 : tensor<f32>, tensor<4x32x16xbf16>, tensor<16x96xbf16>
  }
  func.func private @take_along_axis(%arg0: tensor<4x32x96xf32>, %arg1: tensor<4x32x1xi32>) -> tensor<4x32x1xf32> {
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
    return %15 : tensor<4x32x1xf32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<4x32x1xi32>) -> tensor<4x32x1x1xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x32x1xi32>
    %1 = stablehlo.compare LT, %arg0, %0, SIGNED : (tensor<4x32x1xi32>, tensor<4x32x1xi32>) -> tensor<4x32x1xi1>
    %c_0 = stablehlo.constant dense<96> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x32x1xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<4x32x1xi32>
    %4 = stablehlo.select %1, %3, %arg0 : tensor<4x32x1xi1>, tensor<4x32x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x32x1xi32>) -> tensor<4x32x1x1xi32>
    return %5 : tensor<4x32x1x1xi32>
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
}
