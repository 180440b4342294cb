module @jit_distilled attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xbf16>, %arg1: tensor<16x96xbf16>, %arg2: tensor<4x32xi32>, %arg3: tensor<16x96xbf16>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xbf16> {jax.result_info = "result[1][0]"}, tensor<16x96xbf16> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xbf16>, tensor<16x96xbf16>) -> tensor<4x32x96xbf16>
    %1 = stablehlo.convert %0 : (tensor<4x32x96xbf16>) -> tensor<4x32x96xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x32x96xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %6 = stablehlo.maximum %5, %4 : tensor<4x32xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %9 = stablehlo.subtract %3, %8 : tensor<4x32x96xf32>
    %10 = stablehlo.exponential %9 : tensor<4x32x96xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %14 = stablehlo.divide %10, %13 : tensor<4x32x96xf32>
    %15 = stablehlo.multiply %12, %12 : tensor<4x32x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x32x1xf32>
    %17 = stablehlo.divide %16, %15 : tensor<4x32x1xf32>
    %18 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xbf16>, tensor<16x96xbf16>) -> tensor<4x32x96xbf16>
    %19 = stablehlo.convert %18 : (tensor<4x32x96xbf16>) -> tensor<4x32x96xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_4) applies stablehlo.maximum across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %22 = stablehlo.maximum %21, %20 : tensor<4x32xf32>
    %23 = stablehlo.is_finite %22 : (tensor<4x32xf32>) -> tensor<4x32xi1>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %25 = stablehlo.select %23, %22, %24 : tensor<4x32xi1>, tensor<4x32xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %28 = stablehlo.subtract %19, %27 : tensor<4x32x96xf32>
    %29 = stablehlo.exponential %28 : tensor<4x32x96xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_7) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %31 = stablehlo.abs %30 : tensor<4x32xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %33 = stablehlo.compare GE, %30, %32, FLOAT : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xi1>
    %34 = stablehlo.log %31 : tensor<4x32xf32>
    %35 = stablehlo.add %34, %25 : tensor<4x32xf32>
    %36 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %37:2 = call @take_along_axis(%19, %36) : (tensor<4x32x96xf32>, tensor<4x32x1xi32>) -> (tensor<4x32x1xf32>, tensor<4x32x1x1xi32>)
    %38 = stablehlo.reshape %37#0 : (tensor<4x32x1xf32>) -> tensor<4x32xf32>
    %39 = stablehlo.subtract %35, %38 : tensor<4x32xf32>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %41 = stablehlo.divide %19, %40 : tensor<4x32x96xf32>
    %42:3 = call @log_softmax(%41) : (tensor<4x32x96xf32>) -> (tensor<4x32x96xf32>, tensor<4x32x96xf32>, tensor<4x32x1xf32>)
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %44 = stablehlo.compare EQ, %14, %43, FLOAT : (tensor<4x32x96xf32>, tensor<4x32x96xf32>) -> tensor<4x32x96xi1>
    %45 = stablehlo.log %14 : tensor<4x32x96xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %46 = call @_where(%44, %c, %45) : (tensor<4x32x96xi1>, tensor<i32>, tensor<4x32x96xf32>) -> tensor<4x32x96xf32>
    %47 = stablehlo.subtract %46, %42#0 : tensor<4x32x96xf32>
    %48 = stablehlo.multiply %14, %47 : tensor<4x32x96xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%48 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %50 = stablehlo.add %39, %49 : tensor<4x32xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.reduce(%50 init: %cst_12) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_13 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %52 = stablehlo.divide %51, %cst_13 : tensor<f32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_15 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %53 = stablehlo.divide %cst_14, %cst_15 : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %56 = stablehlo.multiply %14, %55 : tensor<4x32x96xf32>
    %57 = stablehlo.multiply %55, %47 : tensor<4x32x96xf32>
    %58 = stablehlo.negate %56 : tensor<4x32x96xf32>
    %59 = call @_where_0(%44, %56) : (tensor<4x32x96xi1>, tensor<4x32x96xf32>) -> tensor<4x32x96xf32>
    %60 = stablehlo.divide %59, %14 : tensor<4x32x96xf32>
    %61 = stablehlo.add %57, %60 : tensor<4x32x96xf32>
    %62 = call @log_softmax_1(%42#1, %42#2, %58) : (tensor<4x32x96xf32>, tensor<4x32x1xf32>, tensor<4x32x96xf32>) -> tensor<4x32x96xf32>
    %cst_16 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %64 = stablehlo.divide %62, %63 : tensor<4x32x96xf32>
    %65 = stablehlo.negate %54 : tensor<4x32xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %67 = call @take_along_axis_2(%37#1, %66) : (tensor<4x32x1x1xi32>, tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %68 = stablehlo.add %64, %67 : tensor<4x32x96xf32>
    %69 = stablehlo.divide %54, %31 : tensor<4x32xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
    %71 = stablehlo.select %33, %70, %69 : tensor<4x32xi1>, tensor<4x32xf32>
    %72 = stablehlo.select %33, %69, %70 : tensor<4x32xi1>, tensor<4x32xf32>
    %73 = stablehlo.negate %71 : tensor<4x32xf32>
    %74 = stablehlo.add %72, %73 : tensor<4x32xf32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %76 = stablehlo.multiply %75, %29 : tensor<4x32x96xf32>
    %77 = stablehlo.add %68, %76 : tensor<4x32x96xf32>
    %78 = stablehlo.convert %77 : (tensor<4x32x96xf32>) -> tensor<4x32x96xbf16>
    %79 = stablehlo.dot_general %78, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<4x32x16xbf16>) -> tensor<96x16xbf16>
    %80 = stablehlo.transpose %79, dims = [1, 0] : (tensor<96x16xbf16>) -> tensor<16x96xbf16>
    %81 = stablehlo.dot_general %78, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<16x96xbf16>) -> tensor<4x32x16xbf16>
    %82 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %83 = stablehlo.multiply %61, %82 : tensor<4x32x96xf32>
    %84 = stablehlo.multiply %83, %10 : tensor<4x32x96xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %85 = stablehlo.reduce(%84 init: %cst_18) applies stablehlo.add across dimensions = [2] : (tensor<4x32x96xf32>, tensor<f32>) -> tensor<4x32xf32>
    %86 = stablehlo.reshape %85 : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %87 = stablehlo.negate %86 : tensor<4x32x1xf32>
    %88 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x96xf32>
    %89 = stablehlo.divide %61, %88 : tensor<4x32x96xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.reduce(%87 init: %cst_19) applies stablehlo.add across dimensions = [2] : (tensor<4x32x1xf32>, tensor<f32>) -> tensor<4x32xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x96xf32>
    %92 = stablehlo.add %89, %91 : tensor<4x32x96xf32>
    %93 = stablehlo.multiply %92, %10 : tensor<4x32x96xf32>
    %cst_20 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x32x96xf32>
    %95 = stablehlo.divide %93, %94 : tensor<4x32x96xf32>
    %96 = stablehlo.convert %95 : (tensor<4x32x96xf32>) -> tensor<4x32x96xbf16>
    %97 = stablehlo.dot_general %96, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x96xbf16>, tensor<16x96xbf16>) -> tensor<4x32x16xbf16>
    %98 = stablehlo.add %81, %97 : tensor<4x32x16xbf16>
    return %52, %98, %80 : tensor<f32>, tensor<4x32x16xbf16>, tensor<16x96xbf16>
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
