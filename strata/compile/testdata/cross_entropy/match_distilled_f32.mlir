module @jit_distilled attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xf32>, %arg1: tensor<16x96xf32>, %arg2: tensor<4x32xi32>, %arg3: tensor<16x96xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xf32> {jax.result_info = "result[1][0]"}, tensor<16x96xf32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xf32>, tensor<16x96xf32>) -> tensor<4x32x96xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %2 = stablehlo.divide %0, %1 : tensor<4x32x96xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %5 = stablehlo.maximum %4, %3 : tensor<4x32xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %8 = stablehlo.subtract %2, %7 : tensor<4x32x96xf32>
    %9 = stablehlo.exponential %8 : tensor<4x32x96xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %13 = stablehlo.divide %9, %12 : tensor<4x32x96xf32>
    %14 = stablehlo.multiply %11, %11 : tensor<4x32x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x32x1xf32>
    %16 = stablehlo.divide %15, %14 : tensor<4x32x1xf32>
    %17 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xf32>, tensor<16x96xf32>) -> tensor<4x32x96xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_4) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %20 = stablehlo.maximum %19, %18 : tensor<4x32xf32>
    %21 = stablehlo.is_finite %20 : (tensor<4x32xf32>) -> tensor<4x32xi1>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %23 = stablehlo.select %21, %20, %22 : tensor<4x32xi1>, tensor<4x32xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %26 = stablehlo.subtract %17, %25 : tensor<4x32x96xf32>
    %27 = stablehlo.exponential %26 : tensor<4x32x96xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_7) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %29 = stablehlo.abs %28 : tensor<4x32xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %31 = stablehlo.compare GE, %28, %30, FLOAT : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xi1>
    %32 = stablehlo.log %29 : tensor<4x32xf32>
    %33 = stablehlo.add %32, %23 : tensor<4x32xf32>
    %34 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %35:2 = call @take_along_axis(%17, %34) : (tensor<4x32x96xf32>, tensor<4x32x1xi32>) -> (tensor<4x32x1xf32>, tensor<4x32x1x1xi32>)
    %36 = stablehlo.reshape %35#0 : (tensor<4x32x1xf32>) -> tensor<4x32xf32>
    %37 = stablehlo.subtract %33, %36 : tensor<4x32xf32>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %39 = stablehlo.divide %17, %38 : tensor<4x32x96xf32>
    %40:3 = call @log_softmax(%39) : (tensor<4x32x96xf32>) -> (tensor<4x32x96xf32>, tensor<4x32x96xf32>, tensor<4x32x1xf32>)
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %42 = stablehlo.compare EQ, %13, %41, FLOAT : (tensor<4x32x96xf32>, tensor<4x32x96xf32>) -> tensor<4x32x96xi1>
    %43 = stablehlo.log %13 : tensor<4x32x96xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %44 = call @_where(%42, %c, %43) : (tensor<4x32x96xi1>, tensor<i32>, tensor<4x32x96xf32>) -> tensor<4x32x96xf32>
    %45 = stablehlo.subtract %44, %40#0 : tensor<4x32x96xf32>
    %46 = stablehlo.multiply %13, %45 : tensor<4x32x96xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %48 = stablehlo.add %37, %47 : tensor<4x32xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%48 init: %cst_12) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_13 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %50 = stablehlo.divide %49, %cst_13 : tensor<f32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_15 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %51 = stablehlo.divide %cst_14, %cst_15 : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %54 = stablehlo.multiply %13, %53 : tensor<4x32x96xf32>
    %55 = stablehlo.multiply %53, %45 : tensor<4x32x96xf32>
    %56 = stablehlo.negate %54 : tensor<4x32x96xf32>
    %57 = call @_where_0(%42, %54) : (tensor<4x32x96xi1>, tensor<4x32x96xf32>) -> tensor<4x32x96xf32>
    %58 = stablehlo.divide %57, %13 : tensor<4x32x96xf32>
    %59 = stablehlo.add %55, %58 : tensor<4x32x96xf32>
    %60 = call @log_softmax_1(%40#1, %40#2, %56) : (tensor<4x32x96xf32>, tensor<4x32x1xf32>, tensor<4x32x96xf32>) -> tensor<4x32x96xf32>
    %cst_16 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %62 = stablehlo.divide %60, %61 : tensor<4x32x96xf32>
    %63 = stablehlo.negate %52 : tensor<4x32xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %65 = call @take_along_axis_2(%35#1, %64) : (tensor<4x32x1x1xi32>, tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %66 = stablehlo.add %62, %65 : tensor<4x32x96xf32>
    %67 = stablehlo.divide %52, %29 : tensor<4x32xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %69 = stablehlo.select %31, %68, %67 : tensor<4x32xi1>, tensor<4x32xf32>
    %70 = stablehlo.select %31, %67, %68 : tensor<4x32xi1>, tensor<4x32xf32>
    %71 = stablehlo.negate %69 : tensor<4x32xf32>
    %72 = stablehlo.add %70, %71 : tensor<4x32xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %74 = stablehlo.multiply %73, %27 : tensor<4x32x96xf32>
    %75 = stablehlo.add %66, %74 : tensor<4x32x96xf32>
    %76 = stablehlo.dot_general %75, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xf32>, tensor<4x32x16xf32>) -> tensor<96x16xf32>
    %77 = stablehlo.transpose %76, dims = [1, 0] : (tensor<96x16xf32>) -> tensor<16x96xf32>
    %78 = stablehlo.dot_general %75, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xf32>, tensor<16x96xf32>) -> tensor<4x32x16xf32>
    %79 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %80 = stablehlo.multiply %59, %79 : tensor<4x32x96xf32>
    %81 = stablehlo.multiply %80, %9 : tensor<4x32x96xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %82 = stablehlo.reduce(%81 init: %cst_18) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %83 = stablehlo.reshape %82 : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %84 = stablehlo.negate %83 : tensor<4x32x1xf32>
    %85 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %86 = stablehlo.divide %59, %85 : tensor<4x32x96xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %87 = stablehlo.reduce(%84 init: %cst_19) applies stablehlo.add across dimensions = [2] : (tensor<4x32x1xf32>, tensor<f32>) -> tensor<4x32xf32>
    %88 = stablehlo.broadcast_in_dim %87, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %89 = stablehlo.add %86, %88 : tensor<4x32x96xf32>
    %90 = stablehlo.multiply %89, %9 : tensor<4x32x96xf32>
    %cst_20 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %92 = stablehlo.divide %90, %91 : tensor<4x32x96xf32>
    %93 = stablehlo.dot_general %92, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xf32>, tensor<16x96xf32>) -> tensor<4x32x16xf32>
    %94 = stablehlo.add %78, %93 : tensor<4x32x16xf32>
    return %50, %94, %77 : tensor<f32>, tensor<4x32x16xf32>, tensor<16x96xf32>
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
  func.func private @_where(%arg0: tensor<4x32x96xi1>, %arg1: tensor<i32>, %arg2: tensor<4x32x96xf32>) -> tensor<4x32x96xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<4x32x96xi1>, tensor<4x32x96xf32>
    return %2 : tensor<4x32x96xf32>
  }
  func.func private @_where_0(%arg0: tensor<4x32x96xi1>, %arg1: tensor<4x32x96xf32>) -> tensor<4x32x96xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %1 = stablehlo.select %arg0, %0, %arg1 : tensor<4x32x96xi1>, tensor<4x32x96xf32>
    return %1 : tensor<4x32x96xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<4x32x96xf32>, %arg1: tensor<4x32x1xf32>, %arg2: tensor<4x32x96xf32>) -> tensor<4x32x96xf32> {
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
  func.func private @take_along_axis_2(%arg0: tensor<4x32x1x1xi32>, %arg1: tensor<4x32x1xf32>) -> tensor<4x32x96xf32> {
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
