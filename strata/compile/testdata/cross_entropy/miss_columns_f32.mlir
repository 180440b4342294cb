module @jit_columns attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xf32>, %arg1: tensor<16x96xf32>, %arg2: tensor<4x32xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xf32> {jax.result_info = "result[1][0]"}, tensor<16x96xf32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4x32x16xf32>) -> tensor<128x16xf32>
    %1 = stablehlo.reshape %arg2 : (tensor<4x32xi32>) -> tensor<128xi32>
    %2 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<16x96xf32>) -> tensor<96x16xf32>
    %3 = stablehlo.transpose %0, dims = [1, 0] : (tensor<128x16xf32>) -> tensor<16x128xf32>
    %4 = stablehlo.dot_general %2, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<96x16xf32>, tensor<16x128xf32>) -> tensor<96x128xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<96x128xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %7 = stablehlo.maximum %6, %5 : tensor<128xf32>
    %8 = stablehlo.is_finite %7 : (tensor<128xf32>) -> tensor<128xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %10 = stablehlo.select %8, %7, %9 : tensor<128xi1>, tensor<128xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [1] : (tensor<128xf32>) -> tensor<1x128xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<96x128xf32>
    %13 = stablehlo.subtract %4, %12 : tensor<96x128xf32>
    %14 = stablehlo.exponential %13 : tensor<96x128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<96x128xf32>, tensor<f32>) -> tensor<128xf32>
    %16 = stablehlo.abs %15 : tensor<128xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %18 = stablehlo.compare GE, %15, %17, FLOAT : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xi1>
    %19 = stablehlo.log %16 : tensor<128xf32>
    %20 = stablehlo.add %19, %10 : tensor<128xf32>
    %21 = stablehlo.iota dim = 0 : tensor<128xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %23 = stablehlo.compare LT, %1, %22, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_4 = stablehlo.constant dense<96> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %25 = stablehlo.add %1, %24 : tensor<128xi32>
    %26 = stablehlo.select %23, %25, %1 : tensor<128xi1>, tensor<128xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %27 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %28 = stablehlo.compare LT, %21, %27, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_6 = stablehlo.constant dense<128> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %30 = stablehlo.add %21, %29 : tensor<128xi32>
    %31 = stablehlo.select %28, %30, %21 : tensor<128xi1>, tensor<128xi32>
    %32 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %33 = stablehlo.broadcast_in_dim %31, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %34 = stablehlo.concatenate %32, %33, dim = 1 : (tensor<128x1xi32>, tensor<128x1xi32>) -> tensor<128x2xi32>
    %35 = "stablehlo.gather"(%4, %34) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<96x128xf32>, tensor<128x2xi32>) -> tensor<128xf32>
    %36 = stablehlo.subtract %20, %35 : tensor<128xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<128xf32>, tensor<f32>) -> tensor<f32>
    %cst_8 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %38 = stablehlo.divide %37, %cst_8 : tensor<f32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_10 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %39 = stablehlo.divide %cst_9, %cst_10 : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %41 = stablehlo.negate %40 : tensor<128xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<96x128xf32>
    %43 = "stablehlo.scatter"(%42, %34, %41) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %59 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %59 : tensor<f32>
    }) : (tensor<96x128xf32>, tensor<128x2xi32>, tensor<128xf32>) -> tensor<96x128xf32>
    %44 = stablehlo.divide %40, %16 : tensor<128xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %46 = stablehlo.select %18, %45, %44 : tensor<128xi1>, tensor<128xf32>
    %47 = stablehlo.select %18, %44, %45 : tensor<128xi1>, tensor<128xf32>
    %48 = stablehlo.negate %46 : tensor<128xf32>
    %49 = stablehlo.add %47, %48 : tensor<128xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [1] : (tensor<128xf32>) -> tensor<96x128xf32>
    %51 = stablehlo.multiply %50, %14 : tensor<96x128xf32>
    %52 = stablehlo.add %43, %51 : tensor<96x128xf32>
    %53 = stablehlo.dot_general %52, %2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<96x128xf32>, tensor<96x16xf32>) -> tensor<128x16xf32>
    %54 = stablehlo.transpose %53, dims = [1, 0] : (tensor<128x16xf32>) -> tensor<16x128xf32>
    %55 = stablehlo.dot_general %52, %3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<96x128xf32>, tensor<16x128xf32>) -> tensor<96x16xf32>
    %56 = stablehlo.transpose %54, dims = [1, 0] : (tensor<16x128xf32>) -> tensor<128x16xf32>
    %57 = stablehlo.transpose %55, dims = [1, 0] : (tensor<96x16xf32>) -> tensor<16x96xf32>
    %58 = stablehlo.reshape %56 : (tensor<128x16xf32>) -> tensor<4x32x16xf32>
    return %38, %58, %57 : tensor<f32>, tensor<4x32x16xf32>, tensor<16x96xf32>
  }
}
