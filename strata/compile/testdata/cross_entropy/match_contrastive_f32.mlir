module @jit_contrastive attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x16xf32>, %arg1: tensor<16x96xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x32x16xf32> {jax.result_info = "result[1][0]"}, tensor<16x96xf32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4x32x16xf32>) -> tensor<128x16xf32>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x16xf32>, tensor<16x96xf32>) -> tensor<128x96xf32>
    %2 = stablehlo.iota dim = 0 : tensor<128xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<128x96xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %5 = stablehlo.maximum %4, %3 : tensor<128xf32>
    %6 = stablehlo.is_finite %5 : (tensor<128xf32>) -> tensor<128xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %8 = stablehlo.select %6, %5, %7 : tensor<128xi1>, tensor<128xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x96xf32>
    %11 = stablehlo.subtract %1, %10 : tensor<128x96xf32>
    %12 = stablehlo.exponential %11 : tensor<128x96xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<128x96xf32>, tensor<f32>) -> tensor<128xf32>
    %14 = stablehlo.abs %13 : tensor<128xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %16 = stablehlo.compare GE, %13, %15, FLOAT : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xi1>
    %17 = stablehlo.log %14 : tensor<128xf32>
    %18 = stablehlo.add %17, %8 : tensor<128xf32>
    %c = stablehlo.constant dense<96> : tensor<i32>
    %19 = call @remainder(%2, %c) : (tensor<128xi32>, tensor<i32>) -> tensor<128xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %21 = stablehlo.compare LT, %2, %20, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_5 = stablehlo.constant dense<128> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %23 = stablehlo.add %2, %22 : tensor<128xi32>
    %24 = stablehlo.select %21, %23, %2 : tensor<128xi1>, tensor<128xi32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %25 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %26 = stablehlo.compare LT, %19, %25, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_7 = stablehlo.constant dense<96> : tensor<i32>
    %27 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %28 = stablehlo.add %19, %27 : tensor<128xi32>
    %29 = stablehlo.select %26, %28, %19 : tensor<128xi1>, tensor<128xi32>
    %30 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %31 = stablehlo.broadcast_in_dim %29, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %32 = stablehlo.concatenate %30, %31, dim = 1 : (tensor<128x1xi32>, tensor<128x1xi32>) -> tensor<128x2xi32>
    %33 = "stablehlo.gather"(%1, %32) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<128x96xf32>, tensor<128x2xi32>) -> tensor<128xf32>
    %34 = stablehlo.subtract %18, %33 : tensor<128xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<128xf32>, tensor<f32>) -> tensor<f32>
    %cst_9 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %36 = stablehlo.divide %35, %cst_9 : tensor<f32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_11 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %37 = stablehlo.divide %cst_10, %cst_11 : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %39 = stablehlo.negate %38 : tensor<128xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<128x96xf32>
    %41 = "stablehlo.scatter"(%40, %32, %39) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %55 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %55 : tensor<f32>
    }) : (tensor<128x96xf32>, tensor<128x2xi32>, tensor<128xf32>) -> tensor<128x96xf32>
    %42 = stablehlo.divide %38, %14 : tensor<128xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %44 = stablehlo.select %16, %43, %42 : tensor<128xi1>, tensor<128xf32>
    %45 = stablehlo.select %16, %42, %43 : tensor<128xi1>, tensor<128xf32>
    %46 = stablehlo.negate %44 : tensor<128xf32>
    %47 = stablehlo.add %45, %46 : tensor<128xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0] : (tensor<128xf32>) -> tensor<128x96xf32>
    %49 = stablehlo.multiply %48, %12 : tensor<128x96xf32>
    %50 = stablehlo.add %41, %49 : tensor<128x96xf32>
    %51 = stablehlo.dot_general %50, %0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x96xf32>, tensor<128x16xf32>) -> tensor<96x16xf32>
    %52 = stablehlo.transpose %51, dims = [1, 0] : (tensor<96x16xf32>) -> tensor<16x96xf32>
    %53 = stablehlo.dot_general %50, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<128x96xf32>, tensor<16x96xf32>) -> tensor<128x16xf32>
    %54 = stablehlo.reshape %53 : (tensor<128x16xf32>) -> tensor<4x32x16xf32>
    return %36, %54, %52 : tensor<f32>, tensor<4x32x16xf32>, tensor<16x96xf32>
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
