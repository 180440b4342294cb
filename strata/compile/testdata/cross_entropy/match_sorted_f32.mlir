module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xf32>, %arg1: tensor<16x96xf32>, %arg2: tensor<4x32xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xf32> {jax.result_info = "result[1][0]"}, tensor<16x96xf32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xf32>, tensor<16x96xf32>) -> tensor<4x32x96xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<4x32xf32>
    %4 = stablehlo.is_finite %3 : (tensor<4x32xf32>) -> tensor<4x32xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %6 = stablehlo.select %4, %3, %5 : tensor<4x32xi1>, tensor<4x32xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %9 = stablehlo.subtract %0, %8 : tensor<4x32x96xf32>
    %10 = stablehlo.exponential %9 : tensor<4x32x96xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %12 = stablehlo.abs %11 : tensor<4x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %14 = stablehlo.compare GE, %11, %13, FLOAT : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xi1>
    %15 = stablehlo.log %12 : tensor<4x32xf32>
    %16 = stablehlo.add %15, %6 : tensor<4x32xf32>
    %17 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %18:2 = call @take_along_axis(%0, %17) : (tensor<4x32x96xf32>, tensor<4x32x1xi32>) -> (tensor<4x32x1xf32>, tensor<4x32x1x1xi32>)
    %19 = stablehlo.reshape %18#0 : (tensor<4x32x1xf32>) -> tensor<4x32xf32>
    %20 = stablehlo.subtract %16, %19 : tensor<4x32xf32>
    %21 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xf32>, tensor<16x96xf32>) -> tensor<4x32x96xf32>
    %22:2 = call @sort(%21) : (tensor<4x32x96xf32>) -> (tensor<4x32x96xf32>, tensor<4x32x96x1xui32>)
    %23 = stablehlo.slice %22#0 [0:4, 0:32, 0:1] : (tensor<4x32x96xf32>) -> tensor<4x32x1xf32>
    %24 = stablehlo.reshape %23 : (tensor<4x32x1xf32>) -> tensor<4x32xf32>
    %25 = stablehlo.add %20, %24 : tensor<4x32xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %27 = stablehlo.divide %26, %cst_5 : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %28 = stablehlo.divide %cst_6, %cst_7 : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.pad %30, %cst_8, low = [0, 0, 0], high = [0, 0, 95], interior = [0, 0, 0] : (tensor<4x32x1xf32>, tensor<f32>) -> tensor<4x32x96xf32>
    %32 = call @sort_0(%22#1, %31) : (tensor<4x32x96x1xui32>, tensor<4x32x96xf32>) -> tensor<4x32x96xf32>
    %33 = stablehlo.dot_general %32, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xf32>, tensor<4x32x16xf32>) -> tensor<96x16xf32>
    %34 = stablehlo.transpose %33, dims = [1, 0] : (tensor<96x16xf32>) -> tensor<16x96xf32>
    %35 = stablehlo.dot_general %32, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xf32>, tensor<16x96xf32>) -> tensor<4x32x16xf32>
    %36 = stablehlo.negate %29 : tensor<4x32xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %38 = call @take_along_axis_1(%18#1, %37) : (tensor<4x32x1x1xi32>, tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %39 = stablehlo.divide %29, %12 : tensor<4x32xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %41 = stablehlo.select %14, %40, %39 : tensor<4x32xi1>, tensor<4x32xf32>
    %42 = stablehlo.select %14, %39, %40 : tensor<4x32xi1>, tensor<4x32xf32>
    %43 = stablehlo.negate %41 : tensor<4x32xf32>
    %44 = stablehlo.add %42, %43 : tensor<4x32xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %46 = stablehlo.multiply %45, %10 : tensor<4x32x96xf32>
    %47 = stablehlo.add %38, %46 : tensor<4x32x96xf32>
    %48 = stablehlo.dot_general %47, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xf32>, tensor<4x32x16xf32>) -> tensor<96x16xf32>
    %49 = stablehlo.transpose %48, dims = [1, 0] : (tensor<96x16xf32>) -> tensor<16x96xf32>
    %50 = stablehlo.add %34, %49 : tensor<16x96xf32>
    %51 = stablehlo.dot_general %47, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xf32>, tensor<16x96xf32>) -> tensor<4x32x16xf32>
    %52 = stablehlo.add %35, %51 : tensor<4x32x16xf32>
    return %27, %52, %50 : tensor<f32>, tensor<4x32x16xf32>, tensor<16x96xf32>
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
  func.func private @sort(%arg0: tensor<4x32x96xf32>) -> (tensor<4x32x96xf32>, tensor<4x32x96x1xui32>) {
    %0 = stablehlo.iota dim = 2 : tensor<4x32x96xui32>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 2 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %4 = stablehlo.select %3, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %5 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %6 = stablehlo.select %5, %cst_1, %4 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %8 = stablehlo.select %7, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %10 = stablehlo.select %9, %cst_4, %8 : tensor<i1>, tensor<f32>
      %11 = stablehlo.compare LT, %6, %10, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    }) : (tensor<4x32x96xf32>, tensor<4x32x96xui32>) -> (tensor<4x32x96xf32>, tensor<4x32x96xui32>)
    %2 = stablehlo.broadcast_in_dim %1#1, dims = [0, 1, 2] : (tensor<4x32x96xui32>) -> tensor<4x32x96x1xui32>
    return %1#0, %2 : tensor<4x32x96xf32>, tensor<4x32x96x1xui32>
  }
  func.func private @sort_0(%arg0: tensor<4x32x96x1xui32>, %arg1: tensor<4x32x96xf32>) -> tensor<4x32x96xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x32x96xf32>, tensor<4x32x96x1xui32>, tensor<4x32x96xf32>) -> tensor<4x32x96xf32>
    return %1 : tensor<4x32x96xf32>
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
