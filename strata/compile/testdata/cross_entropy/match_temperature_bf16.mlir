module @jit_temperature attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x16x16xbf16>, %arg1: tensor<16x128xbf16>, %arg2: tensor<8x16xi32>, %arg3: tensor<bf16>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8x16x16xbf16> {jax.result_info = "result[1][0]"}, tensor<16x128xbf16> {jax.result_info = "result[1][1]"}, tensor<bf16> {jax.result_info = "result[1][2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x16xbf16>, tensor<16x128xbf16>) -> tensor<8x16x128xbf16>
    %1 = stablehlo.convert %0 : (tensor<8x16x128xbf16>) -> tensor<8x16x128xf32>
    %2 = stablehlo.convert %arg3 : (tensor<bf16>) -> tensor<f32>
    %3 = stablehlo.exponential %2 : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<8x16x128xf32>
    %5 = stablehlo.multiply %1, %4 : tensor<8x16x128xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<8x16x128xf32>, tensor<f32>) -> tensor<8x16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<8x16xf32>
    %9 = stablehlo.is_finite %8 : (tensor<8x16xf32>) -> tensor<8x16xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %11 = stablehlo.select %9, %8, %10 : tensor<8x16xi1>, tensor<8x16xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x128xf32>
    %14 = stablehlo.subtract %5, %13 : tensor<8x16x128xf32>
    %15 = stablehlo.exponential %14 : tensor<8x16x128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<8x16x128xf32>, tensor<f32>) -> tensor<8x16xf32>
    %17 = stablehlo.abs %16 : tensor<8x16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %19 = stablehlo.compare GE, %16, %18, FLOAT : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %20 = stablehlo.log %17 : tensor<8x16xf32>
    %21 = stablehlo.add %20, %11 : tensor<8x16xf32>
    %22 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<8x16xi32>) -> tensor<8x16x1xi32>
    %23:2 = call @take_along_axis(%5, %22) : (tensor<8x16x128xf32>, tensor<8x16x1xi32>) -> (tensor<8x16x1xf32>, tensor<8x16x1x1xi32>)
    %24 = stablehlo.reshape %23#0 : (tensor<8x16x1xf32>) -> tensor<8x16xf32>
    %25 = stablehlo.subtract %21, %24 : tensor<8x16xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %27 = stablehlo.divide %26, %cst_5 : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %28 = stablehlo.divide %cst_6, %cst_7 : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %30 = stablehlo.negate %29 : tensor<8x16xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %32 = call @take_along_axis_0(%23#1, %31) : (tensor<8x16x1x1xi32>, tensor<8x16x1xf32>) -> tensor<8x16x128xf32>
    %33 = stablehlo.divide %29, %17 : tensor<8x16xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %35 = stablehlo.select %19, %34, %33 : tensor<8x16xi1>, tensor<8x16xf32>
    %36 = stablehlo.select %19, %33, %34 : tensor<8x16xi1>, tensor<8x16xf32>
    %37 = stablehlo.negate %35 : tensor<8x16xf32>
    %38 = stablehlo.add %36, %37 : tensor<8x16xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x128xf32>
    %40 = stablehlo.multiply %39, %15 : tensor<8x16x128xf32>
    %41 = stablehlo.add %32, %40 : tensor<8x16x128xf32>
    %42 = stablehlo.multiply %1, %41 : tensor<8x16x128xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_9) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x16x128xf32>, tensor<f32>) -> tensor<f32>
    %44 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<8x16x128xf32>
    %45 = stablehlo.multiply %41, %44 : tensor<8x16x128xf32>
    %46 = stablehlo.multiply %43, %3 : tensor<f32>
    %47 = stablehlo.convert %46 : (tensor<f32>) -> tensor<bf16>
    %48 = stablehlo.convert %45 : (tensor<8x16x128xf32>) -> tensor<8x16x128xbf16>
    %49 = stablehlo.dot_general %48, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x128xbf16>, tensor<8x16x16xbf16>) -> tensor<128x16xbf16>
    %50 = stablehlo.transpose %49, dims = [1, 0] : (tensor<128x16xbf16>) -> tensor<16x128xbf16>
    %51 = stablehlo.dot_general %48, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x128xbf16>, tensor<16x128xbf16>) -> tensor<8x16x16xbf16>
    return %27, %51, %50, %47 : tensor<f32>, tensor<8x16x16xbf16>, tensor<16x128xbf16>, tensor<bf16>
  }
  func.func private @take_along_axis(%arg0: tensor<8x16x128xf32>, %arg1: tensor<8x16x1xi32>) -> (tensor<8x16x1xf32>, tensor<8x16x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x16x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x16x1xi32>, tensor<8x16x1xi32>) -> tensor<8x16x1xi1>
    %c_0 = stablehlo.constant dense<128> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x16x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x16x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<8x16x1xi1>, tensor<8x16x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<8x16x1xi32>) -> tensor<8x16x1x1xi32>
    %c_1 = stablehlo.constant dense<127> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x16x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x16x1x1xi32>, tensor<8x16x1x1xi32>) -> tensor<8x16x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<8x16x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<8x16x1x1xi32>, tensor<8x16x1x1xi32>) -> tensor<8x16x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<8x16x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<8x16x1x1xi1>, tensor<i1>) -> tensor<8x16x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x16x128xf32>, tensor<8x16x1x1xi32>) -> tensor<8x16x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<8x16x1xi1>, tensor<8x16x1xf32>
    return %15, %5 : tensor<8x16x1xf32>, tensor<8x16x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<8x16x1x1xi32>, %arg1: tensor<8x16x1xf32>) -> tensor<8x16x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16x128xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<8x16x128xf32>, tensor<8x16x1x1xi32>, tensor<8x16x1xf32>) -> tensor<8x16x128xf32>
    return %1 : tensor<8x16x128xf32>
  }
}
