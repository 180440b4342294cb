module @jit_flat_rows attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xf32>, %arg1: tensor<16x96xf32>, %arg2: tensor<4x32xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xf32> {jax.result_info = "result[1][0]"}, tensor<16x96xf32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4x32x16xf32>) -> tensor<128x16xf32>
    %1 = stablehlo.reshape %arg2 : (tensor<4x32xi32>) -> tensor<128xi32>
    %2 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x16xf32>, tensor<16x96xf32>) -> tensor<128x96xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<128x96xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %5 = stablehlo.maximum %4, %3 : tensor<128xf32>
    %6 = stablehlo.is_finite %5 : (tensor<128xf32>) -> tensor<128xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %8 = stablehlo.select %6, %5, %7 : tensor<128xi1>, tensor<128xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x96xf32>
    %11 = stablehlo.subtract %2, %10 : tensor<128x96xf32>
    %12 = stablehlo.exponential %11 : tensor<128x96xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<128x96xf32>, tensor<f32>) -> tensor<128xf32>
    %14 = stablehlo.abs %13 : tensor<128xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %16 = stablehlo.compare GE, %13, %15, FLOAT : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xi1>
    %17 = stablehlo.log %14 : tensor<128xf32>
    %18 = stablehlo.add %17, %8 : tensor<128xf32>
    %19 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %20:2 = call @take_along_axis(%2, %19) : (tensor<128x96xf32>, tensor<128x1xi32>) -> (tensor<128x1xf32>, tensor<128x1x1xi32>)
    %21 = stablehlo.reshape %20#0 : (tensor<128x1xf32>) -> tensor<128xf32>
    %22 = stablehlo.subtract %18, %21 : tensor<128xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<128xf32>, tensor<f32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %24 = stablehlo.divide %23, %cst_5 : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %25 = stablehlo.divide %cst_6, %cst_7 : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %27 = stablehlo.negate %26 : tensor<128xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %29 = call @take_along_axis_0(%20#1, %28) : (tensor<128x1x1xi32>, tensor<128x1xf32>) -> tensor<128x96xf32>
    %30 = stablehlo.divide %26, %14 : tensor<128xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %32 = stablehlo.select %16, %31, %30 : tensor<128xi1>, tensor<128xf32>
    %33 = stablehlo.select %16, %30, %31 : tensor<128xi1>, tensor<128xf32>
    %34 = stablehlo.negate %32 : tensor<128xf32>
    %35 = stablehlo.add %33, %34 : tensor<128xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0] : (tensor<128xf32>) -> tensor<128x96xf32>
    %37 = stablehlo.multiply %36, %12 : tensor<128x96xf32>
    %38 = stablehlo.add %29, %37 : tensor<128x96xf32>
    %39 = stablehlo.dot_general %38, %0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x96xf32>, tensor<128x16xf32>) -> tensor<96x16xf32>
    %40 = stablehlo.transpose %39, dims = [1, 0] : (tensor<96x16xf32>) -> tensor<16x96xf32>
    %41 = stablehlo.dot_general %38, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<128x96xf32>, tensor<16x96xf32>) -> tensor<128x16xf32>
    %42 = stablehlo.reshape %41 : (tensor<128x16xf32>) -> tensor<4x32x16xf32>
    return %24, %42, %40 : tensor<f32>, tensor<4x32x16xf32>, tensor<16x96xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<128x96xf32>, %arg1: tensor<128x1xi32>) -> (tensor<128x1xf32>, tensor<128x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<128x1xi32>, tensor<128x1xi32>) -> tensor<128x1xi1>
    %c_0 = stablehlo.constant dense<96> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<128x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<128x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<128x1xi1>, tensor<128x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<128x1xi32>) -> tensor<128x1x1xi32>
    %c_1 = stablehlo.constant dense<95> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<128x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<128x1x1xi32>, tensor<128x1x1xi32>) -> tensor<128x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<128x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<128x1x1xi32>, tensor<128x1x1xi32>) -> tensor<128x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<128x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<128x1x1xi1>, tensor<i1>) -> tensor<128x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<128x96xf32>, tensor<128x1x1xi32>) -> tensor<128x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<128x1xi1>, tensor<128x1xf32>
    return %15, %5 : tensor<128x1xf32>, tensor<128x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<128x1x1xi32>, %arg1: tensor<128x1xf32>) -> tensor<128x96xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x96xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<128x96xf32>, tensor<128x1x1xi32>, tensor<128x1xf32>) -> tensor<128x96xf32>
    return %1 : tensor<128x96xf32>
  }
}
