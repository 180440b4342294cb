module @jit_contrastive attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xbf16>, %arg1: tensor<16x96xbf16>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xbf16> {jax.result_info = "result[1][0]"}, tensor<16x96xbf16> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4x32x16xbf16>) -> tensor<128x16xbf16>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x16xbf16>, tensor<16x96xbf16>) -> tensor<128x96xbf16>
    %2 = stablehlo.convert %1 : (tensor<128x96xbf16>) -> tensor<128x96xf32>
    %3 = stablehlo.iota dim = 0 : tensor<128xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<128x96xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %6 = stablehlo.maximum %5, %4 : tensor<128xf32>
    %7 = stablehlo.is_finite %6 : (tensor<128xf32>) -> tensor<128xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %9 = stablehlo.select %7, %6, %8 : tensor<128xi1>, tensor<128xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x96xf32>
    %12 = stablehlo.subtract %2, %11 : tensor<128x96xf32>
    %13 = stablehlo.exponential %12 : tensor<128x96xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<128x96xf32>, tensor<f32>) -> tensor<128xf32>
    %15 = stablehlo.abs %14 : tensor<128xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %17 = stablehlo.compare GE, %14, %16, FLOAT : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xi1>
    %18 = stablehlo.log %15 : tensor<128xf32>
    %19 = stablehlo.add %18, %9 : tensor<128xf32>
    %c = stablehlo.constant dense<96> : tensor<i32>
    %20 = call @remainder(%3, %c) : (tensor<128xi32>, tensor<i32>) -> tensor<128xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %22 = stablehlo.compare LT, %3, %21, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_5 = stablehlo.constant dense<128> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %24 = stablehlo.add %3, %23 : tensor<128xi32>
    %25 = stablehlo.select %22, %24, %3 : tensor<128xi1>, tensor<128xi32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %26 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %27 = stablehlo.compare LT, %20, %26, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_7 = stablehlo.constant dense<96> : tensor<i32>
    %28 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %29 = stablehlo.add %20, %28 : tensor<128xi32>
    %30 = stablehlo.select %27, %29, %20 : tensor<128xi1>, tensor<128xi32>
    %31 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %32 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %33 = stablehlo.concatenate %31, %32, dim = 1 : (tensor<128x1xi32>, tensor<128x1xi32>) -> tensor<128x2xi32>
    %34 = "stablehlo.gather"(%2, %33) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<128x96xf32>, tensor<128x2xi32>) -> tensor<128xf32>
    %35 = stablehlo.subtract %19, %34 : tensor<128xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<128xf32>, tensor<f32>) -> tensor<f32>
    %cst_9 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %37 = stablehlo.divide %36, %cst_9 : tensor<f32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_11 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %38 = stablehlo.divide %cst_10, %cst_11 : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %40 = stablehlo.negate %39 : tensor<128xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<128x96xf32>
    %42 = "stablehlo.scatter"(%41, %33, %40) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %57 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %57 : tensor<f32>
    }) : (tensor<128x96xf32>, tensor<128x2xi32>, tensor<128xf32>) -> tensor<128x96xf32>
    %43 = stablehlo.divide %39, %15 : tensor<128xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %45 = stablehlo.select %17, %44, %43 : tensor<128xi1>, tensor<128xf32>
    %46 = stablehlo.select %17, %43, %44 : tensor<128xi1>, tensor<128xf32>
    %47 = stablehlo.negate %45 : tensor<128xf32>
    %48 = stablehlo.add %46, %47 : tensor<128xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0] : (tensor<128xf32>) -> tensor<128x96xf32>
    %50 = stablehlo.multiply %49, %13 : tensor<128x96xf32>
    %51 = stablehlo.add %42, %50 : tensor<128x96xf32>
    %52 = stablehlo.convert %51 : (tensor<128x96xf32>) -> tensor<128x96xbf16>
    %53 = stablehlo.dot_general %52, %0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x96xbf16>, tensor<128x16xbf16>) -> tensor<96x16xbf16>
    %54 = stablehlo.transpose %53, dims = [1, 0] : (tensor<96x16xbf16>) -> tensor<16x96xbf16>
    %55 = stablehlo.dot_general %52, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<128x96xbf16>, tensor<16x96xbf16>) -> tensor<128x16xbf16>
    %56 = stablehlo.reshape %55 : (tensor<128x16xbf16>) -> tensor<4x32x16xbf16>
    return %37, %56, %54 : tensor<f32>, tensor<4x32x16xbf16>, tensor<16x96xbf16>
  }
  func.func private @remainder(%arg0: tensor<128xi32>, %arg1: tensor<i32>) -> tensor<128xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<128xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<128xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<128xi1>, tensor<128xi1>) -> tensor<128xi1>
    %12 = stablehlo.and %11, %6 : tensor<128xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %14 = stablehlo.add %4, %13 : tensor<128xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<128xi1>, tensor<128xi32>
    return %15 : tensor<128xi32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
