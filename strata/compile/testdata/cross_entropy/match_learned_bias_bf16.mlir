module @jit_learned_bias attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x64x16xbf16>, %arg1: tensor<16x96xbf16>, %arg2: tensor<8x64xi32>, %arg3: tensor<96xbf16>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8x64x16xbf16> {jax.result_info = "result[1][0]"}, tensor<16x96xbf16> {jax.result_info = "result[1][1]"}, tensor<96xbf16> {jax.result_info = "result[1][2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x64x16xbf16>, tensor<16x96xbf16>) -> tensor<8x64x96xbf16>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<96xbf16>) -> tensor<1x1x96xbf16>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x96xbf16>) -> tensor<8x64x96xbf16>
    %3 = stablehlo.add %0, %2 : tensor<8x64x96xbf16>
    %4 = stablehlo.convert %3 : (tensor<8x64x96xbf16>) -> tensor<8x64x96xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<8x64x96xf32>, tensor<f32>) -> tensor<8x64xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %7 = stablehlo.maximum %6, %5 : tensor<8x64xf32>
    %8 = stablehlo.is_finite %7 : (tensor<8x64xf32>) -> tensor<8x64xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %10 = stablehlo.select %8, %7, %9 : tensor<8x64xi1>, tensor<8x64xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<8x64x1xf32>) -> tensor<8x64x96xf32>
    %13 = stablehlo.subtract %4, %12 : tensor<8x64x96xf32>
    %14 = stablehlo.exponential %13 : tensor<8x64x96xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<8x64x96xf32>, tensor<f32>) -> tensor<8x64xf32>
    %16 = stablehlo.abs %15 : tensor<8x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %18 = stablehlo.compare GE, %15, %17, FLOAT : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xi1>
    %19 = stablehlo.log %16 : tensor<8x64xf32>
    %20 = stablehlo.add %19, %10 : tensor<8x64xf32>
    %21 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<8x64xi32>) -> tensor<8x64x1xi32>
    %22:2 = call @take_along_axis(%4, %21) : (tensor<8x64x96xf32>, tensor<8x64x1xi32>) -> (tensor<8x64x1xf32>, tensor<8x64x1x1xi32>)
    %23 = stablehlo.reshape %22#0 : (tensor<8x64x1xf32>) -> tensor<8x64xf32>
    %24 = stablehlo.subtract %20, %23 : tensor<8x64xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x64xf32>, tensor<f32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %26 = stablehlo.divide %25, %cst_5 : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %27 = stablehlo.divide %cst_6, %cst_7 : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %29 = stablehlo.negate %28 : tensor<8x64xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x1xf32>
    %31 = call @take_along_axis_0(%22#1, %30) : (tensor<8x64x1x1xi32>, tensor<8x64x1xf32>) -> tensor<8x64x96xf32>
    %32 = stablehlo.divide %28, %16 : tensor<8x64xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x64xf32>
    %34 = stablehlo.select %18, %33, %32 : tensor<8x64xi1>, tensor<8x64xf32>
    %35 = stablehlo.select %18, %32, %33 : tensor<8x64xi1>, tensor<8x64xf32>
    %36 = stablehlo.negate %34 : tensor<8x64xf32>
    %37 = stablehlo.add %35, %36 : tensor<8x64xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x96xf32>
    %39 = stablehlo.multiply %38, %14 : tensor<8x64x96xf32>
    %40 = stablehlo.add %31, %39 : tensor<8x64x96xf32>
    %41 = stablehlo.convert %40 : (tensor<8x64x96xf32>) -> tensor<8x64x96xbf16>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %42 = stablehlo.reduce(%41 init: %cst_9) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x64x96xbf16>, tensor<bf16>) -> tensor<96xbf16>
    %43 = stablehlo.reshape %42 : (tensor<96xbf16>) -> tensor<1x1x96xbf16>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %44 = stablehlo.reduce(%43 init: %cst_10) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x96xbf16>, tensor<bf16>) -> tensor<96xbf16>
    %45 = stablehlo.dot_general %41, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x96xbf16>, tensor<8x64x16xbf16>) -> tensor<96x16xbf16>
    %46 = stablehlo.transpose %45, dims = [1, 0] : (tensor<96x16xbf16>) -> tensor<16x96xbf16>
    %47 = stablehlo.dot_general %41, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x96xbf16>, tensor<16x96xbf16>) -> tensor<8x64x16xbf16>
    return %26, %47, %46, %44 : tensor<f32>, tensor<8x64x16xbf16>, tensor<16x96xbf16>, tensor<96xbf16>
  }
  func.func private @take_along_axis(%arg0: tensor<8x64x96xf32>, %arg1: tensor<8x64x1xi32>) -> (tensor<8x64x1xf32>, tensor<8x64x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x64x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x64x1xi32>, tensor<8x64x1xi32>) -> tensor<8x64x1xi1>
    %c_0 = stablehlo.constant dense<96> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x64x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x64x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<8x64x1xi1>, tensor<8x64x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<8x64x1xi32>) -> tensor<8x64x1x1xi32>
    %c_1 = stablehlo.constant dense<95> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x64x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x64x1x1xi32>, tensor<8x64x1x1xi32>) -> tensor<8x64x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<8x64x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<8x64x1x1xi32>, tensor<8x64x1x1xi32>) -> tensor<8x64x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<8x64x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<8x64x1x1xi1>, tensor<i1>) -> tensor<8x64x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x64x96xf32>, tensor<8x64x1x1xi32>) -> tensor<8x64x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<8x64x1xi1>, tensor<8x64x1xf32>
    return %15, %5 : tensor<8x64x1xf32>, tensor<8x64x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<8x64x1x1xi32>, %arg1: tensor<8x64x1xf32>) -> tensor<8x64x96xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x64x96xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<8x64x96xf32>, tensor<8x64x1x1xi32>, tensor<8x64x1xf32>) -> tensor<8x64x96xf32>
    return %1 : tensor<8x64x96xf32>
  }
}
