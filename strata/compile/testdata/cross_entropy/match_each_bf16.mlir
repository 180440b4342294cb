module @jit_each attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
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
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<32xf32>) -> tensor<4x32xf32>
    %8 = stablehlo.select %5, %4, %7 : tensor<4x32xi1>, tensor<4x32xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %11 = stablehlo.subtract %1, %10 : tensor<4x32x96xf32>
    %12 = stablehlo.exponential %11 : tensor<4x32x96xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %14 = stablehlo.abs %13 : tensor<4x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %16 = stablehlo.compare GE, %13, %15, FLOAT : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xi1>
    %17 = stablehlo.log %14 : tensor<4x32xf32>
    %18 = stablehlo.add %17, %8 : tensor<4x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %19 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %20 = stablehlo.compare LT, %arg2, %19, SIGNED : (tensor<4x32xi32>, tensor<4x32xi32>) -> tensor<4x32xi1>
    %c_4 = stablehlo.constant dense<96> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %22 = stablehlo.add %arg2, %21 : tensor<4x32xi32>
    %23 = stablehlo.select %20, %22, %arg2 : tensor<4x32xi1>, tensor<4x32xi32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %25 = "stablehlo.gather"(%1, %24) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, indices_are_sorted = true, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x32x96xf32>, tensor<4x32x1xi32>) -> tensor<4x32x1xf32>
    %26 = stablehlo.reshape %25 : (tensor<4x32x1xf32>) -> tensor<4x32xf32>
    %27 = stablehlo.subtract %18, %26 : tensor<4x32xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_6 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %29 = stablehlo.divide %28, %cst_6 : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_8 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %30 = stablehlo.divide %cst_7, %cst_8 : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %32 = stablehlo.negate %31 : tensor<4x32xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %c_10 = stablehlo.constant dense<95> : tensor<1xi32>
    %c_11 = stablehlo.constant dense<2147483647> : tensor<i32>
    %35 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %36 = stablehlo.minimum %c_10, %35 : tensor<1xi32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [2] : (tensor<1xi32>) -> tensor<4x32x1xi32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %38 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<4x32x1xi32>
    %39 = stablehlo.clamp %38, %24, %37 : tensor<4x32x1xi32>
    %40 = "stablehlo.scatter"(%34, %39, %33) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %54 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %54 : tensor<f32>
    }) : (tensor<4x32x96xf32>, tensor<4x32x1xi32>, tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %41 = stablehlo.divide %31, %14 : tensor<4x32xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %43 = stablehlo.select %16, %42, %41 : tensor<4x32xi1>, tensor<4x32xf32>
    %44 = stablehlo.select %16, %41, %42 : tensor<4x32xi1>, tensor<4x32xf32>
    %45 = stablehlo.negate %43 : tensor<4x32xf32>
    %46 = stablehlo.add %44, %45 : tensor<4x32xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %48 = stablehlo.multiply %47, %12 : tensor<4x32x96xf32>
    %49 = stablehlo.add %40, %48 : tensor<4x32x96xf32>
    %50 = stablehlo.convert %49 : (tensor<4x32x96xf32>) -> tensor<4x32x96xbf16>
    %51 = stablehlo.dot_general %50, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<4x32x16xbf16>) -> tensor<96x16xbf16>
    %52 = stablehlo.transpose %51, dims = [1, 0] : (tensor<96x16xbf16>) -> tensor<16x96xbf16>
    %53 = stablehlo.dot_general %50, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<16x96xbf16>) -> tensor<4x32x16xbf16>
    return %29, %53, %52 : tensor<f32>, tensor<4x32x16xbf16>, tensor<16x96xbf16>
  }
}
