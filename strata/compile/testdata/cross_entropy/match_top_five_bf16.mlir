module @jit_top_five attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xbf16>, %arg1: tensor<16x96xbf16>, %arg2: tensor<4x32xi32>) -> (tensor<f32> {jax.result_info = "result[0][0]"}, tensor<f32> {jax.result_info = "result[0][1]"}, tensor<4x32x16xbf16> {jax.result_info = "result[1][0]"}, tensor<16x96xbf16> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xbf16>, tensor<16x96xbf16>) -> tensor<4x32x96xbf16>
    %1 = stablehlo.convert %0 : (tensor<4x32x96xbf16>) -> tensor<4x32x96xf32>
    %values, %indices = chlo.top_k(%1, k = 5) : tensor<4x32x96xf32> -> (tensor<4x32x5xf32>, tensor<4x32x5xi32>)
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<4x32x1xi32>) -> tensor<4x32x5xi32>
    %4 = stablehlo.compare EQ, %indices, %3, SIGNED : (tensor<4x32x5xi32>, tensor<4x32x5xi32>) -> tensor<4x32x5xi1>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.reduce(%4 init: %c) applies stablehlo.or across dimensions = [2] : (tensor<4x32x5xi1>, tensor<i1>) -> tensor<4x32xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<4x32xf32>
    %9 = stablehlo.is_finite %8 : (tensor<4x32xf32>) -> tensor<4x32xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %11 = stablehlo.select %9, %8, %10 : tensor<4x32xi1>, tensor<4x32xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %14 = stablehlo.subtract %1, %13 : tensor<4x32x96xf32>
    %15 = stablehlo.exponential %14 : tensor<4x32x96xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %17 = stablehlo.abs %16 : tensor<4x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %19 = stablehlo.compare GE, %16, %18, FLOAT : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xi1>
    %20 = stablehlo.log %17 : tensor<4x32xf32>
    %21 = stablehlo.add %20, %11 : tensor<4x32xf32>
    %22 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %23:2 = call @take_along_axis(%1, %22) : (tensor<4x32x96xf32>, tensor<4x32x1xi32>) -> (tensor<4x32x1xf32>, tensor<4x32x1x1xi32>)
    %24 = stablehlo.reshape %23#0 : (tensor<4x32x1xf32>) -> tensor<4x32xf32>
    %25 = stablehlo.subtract %21, %24 : tensor<4x32xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %27 = stablehlo.divide %26, %cst_5 : tensor<f32>
    %28 = stablehlo.convert %5 : (tensor<4x32xi1>) -> tensor<4x32xi32>
    %29 = stablehlo.convert %28 : (tensor<4x32xi32>) -> tensor<4x32xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_7 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %31 = stablehlo.divide %30, %cst_7 : tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_9 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %32 = stablehlo.divide %cst_8, %cst_9 : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %34 = stablehlo.negate %33 : tensor<4x32xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %36 = call @take_along_axis_0(%23#1, %35) : (tensor<4x32x1x1xi32>, tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %37 = stablehlo.divide %33, %17 : tensor<4x32xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %39 = stablehlo.select %19, %38, %37 : tensor<4x32xi1>, tensor<4x32xf32>
    %40 = stablehlo.select %19, %37, %38 : tensor<4x32xi1>, tensor<4x32xf32>
    %41 = stablehlo.negate %39 : tensor<4x32xf32>
    %42 = stablehlo.add %40, %41 : tensor<4x32xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %44 = stablehlo.multiply %43, %15 : tensor<4x32x96xf32>
    %45 = stablehlo.add %36, %44 : tensor<4x32x96xf32>
    %46 = stablehlo.convert %45 : (tensor<4x32x96xf32>) -> tensor<4x32x96xbf16>
    %47 = stablehlo.dot_general %46, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<4x32x16xbf16>) -> tensor<96x16xbf16>
    %48 = stablehlo.transpose %47, dims = [1, 0] : (tensor<96x16xbf16>) -> tensor<16x96xbf16>
    %49 = stablehlo.dot_general %46, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<16x96xbf16>) -> tensor<4x32x16xbf16>
    return %27, %31, %49, %48 : tensor<f32>, tensor<f32>, tensor<4x32x16xbf16>, tensor<16x96xbf16>
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
  func.func private @take_along_axis_0(%arg0: tensor<4x32x1x1xi32>, %arg1: tensor<4x32x1xf32>) -> tensor<4x32x96xf32> {
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
