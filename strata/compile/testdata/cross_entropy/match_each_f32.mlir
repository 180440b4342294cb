module @jit_each attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xf32>, %arg1: tensor<16x96xf32>, %arg2: tensor<4x32xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xf32> {jax.result_info = "result[1][0]"}, tensor<16x96xf32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xf32>, tensor<16x96xf32>) -> tensor<4x32x96xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<4x32xf32>
    %4 = stablehlo.is_finite %3 : (tensor<4x32xf32>) -> tensor<4x32xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<32xf32>) -> tensor<4x32xf32>
    %7 = stablehlo.select %4, %3, %6 : tensor<4x32xi1>, tensor<4x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %10 = stablehlo.subtract %0, %9 : tensor<4x32x96xf32>
    %11 = stablehlo.exponential %10 : tensor<4x32x96xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %13 = stablehlo.abs %12 : tensor<4x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %15 = stablehlo.compare GE, %12, %14, FLOAT : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xi1>
    %16 = stablehlo.log %13 : tensor<4x32xf32>
    %17 = stablehlo.add %16, %7 : tensor<4x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %19 = stablehlo.compare LT, %arg2, %18, SIGNED : (tensor<4x32xi32>, tensor<4x32xi32>) -> tensor<4x32xi1>
    %c_4 = stablehlo.constant dense<96> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %21 = stablehlo.add %arg2, %20 : tensor<4x32xi32>
    %22 = stablehlo.select %19, %21, %arg2 : tensor<4x32xi1>, tensor<4x32xi32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %24 = "stablehlo.gather"(%0, %23) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, indices_are_sorted = true, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x32x96xf32>, tensor<4x32x1xi32>) -> tensor<4x32x1xf32>
    %25 = stablehlo.reshape %24 : (tensor<4x32x1xf32>) -> tensor<4x32xf32>
    %26 = stablehlo.subtract %17, %25 : tensor<4x32xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_6 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %28 = stablehlo.divide %27, %cst_6 : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_8 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %29 = stablehlo.divide %cst_7, %cst_8 : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %31 = stablehlo.negate %30 : tensor<4x32xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %c_10 = stablehlo.constant dense<95> : tensor<1xi32>
    %c_11 = stablehlo.constant dense<2147483647> : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %35 = stablehlo.minimum %c_10, %34 : tensor<1xi32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [2] : (tensor<1xi32>) -> tensor<4x32x1xi32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %37 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<4x32x1xi32>
    %38 = stablehlo.clamp %37, %23, %36 : tensor<4x32x1xi32>
    %39 = "stablehlo.scatter"(%33, %38, %32) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %52 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %52 : tensor<f32>
    }) : (tensor<4x32x96xf32>, tensor<4x32x1xi32>, tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %40 = stablehlo.divide %30, %13 : tensor<4x32xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %42 = stablehlo.select %15, %41, %40 : tensor<4x32xi1>, tensor<4x32xf32>
    %43 = stablehlo.select %15, %40, %41 : tensor<4x32xi1>, tensor<4x32xf32>
    %44 = stablehlo.negate %42 : tensor<4x32xf32>
    %45 = stablehlo.add %43, %44 : tensor<4x32xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %47 = stablehlo.multiply %46, %11 : tensor<4x32x96xf32>
    %48 = stablehlo.add %39, %47 : tensor<4x32x96xf32>
    %49 = stablehlo.dot_general %48, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xf32>, tensor<4x32x16xf32>) -> tensor<96x16xf32>
    %50 = stablehlo.transpose %49, dims = [1, 0] : (tensor<96x16xf32>) -> tensor<16x96xf32>
    %51 = stablehlo.dot_general %48, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xf32>, tensor<16x96xf32>) -> tensor<4x32x16xf32>
    return %28, %51, %50 : tensor<f32>, tensor<4x32x16xf32>, tensor<16x96xf32>
  }
}
