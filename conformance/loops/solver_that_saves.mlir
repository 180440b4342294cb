module @jit_run attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16xf32>, %arg1: tensor<f32>) -> (tensor<300xf32> {jax.result_info = "result[0]"}, tensor<300x16xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<300xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<300x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:6 = stablehlo.while(%iterArg = %arg1, %iterArg_2 = %cst_1, %iterArg_3 = %arg0, %iterArg_4 = %0, %iterArg_5 = %1, %iterArg_6 = %c) : tensor<f32>, tensor<f32>, tensor<16xf32>, tensor<300xf32>, tensor<300x16xf32>, tensor<i32>
    cond {
      %3 = stablehlo.compare LT, %iterArg_2, %iterArg, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %cst_7 = stablehlo.constant dense<0.00999999977> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %4 = stablehlo.multiply %3, %iterArg_3 : tensor<16xf32>
      %5 = stablehlo.subtract %iterArg_3, %4 : tensor<16xf32>
      %cst_8 = stablehlo.constant dense<0.00999999977> : tensor<f32>
      %6 = stablehlo.add %iterArg_2, %cst_8 : tensor<f32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg_6, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_10 = stablehlo.constant dense<300> : tensor<i32>
      %8 = stablehlo.add %iterArg_6, %c_10 : tensor<i32>
      %9 = stablehlo.select %7, %8, %iterArg_6 : tensor<i1>, tensor<i32>
      %10 = stablehlo.convert %9 : tensor<i32>
      %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %12 = "stablehlo.scatter"(%iterArg_4, %11, %iterArg_2) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        stablehlo.return %arg3 : tensor<f32>
      }) : (tensor<300xf32>, tensor<1xi32>, tensor<f32>) -> tensor<300xf32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %13 = stablehlo.compare LT, %iterArg_6, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_12 = stablehlo.constant dense<300> : tensor<i32>
      %14 = stablehlo.add %iterArg_6, %c_12 : tensor<i32>
      %15 = stablehlo.select %13, %14, %iterArg_6 : tensor<i1>, tensor<i32>
      %16 = stablehlo.convert %15 : tensor<i32>
      %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %18 = "stablehlo.scatter"(%iterArg_5, %17, %5) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        stablehlo.return %arg3 : tensor<f32>
      }) : (tensor<300x16xf32>, tensor<1xi32>, tensor<16xf32>) -> tensor<300x16xf32>
      %c_13 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.add %iterArg_6, %c_13 : tensor<i32>
      stablehlo.return %iterArg, %6, %5, %12, %18, %19 : tensor<f32>, tensor<f32>, tensor<16xf32>, tensor<300xf32>, tensor<300x16xf32>, tensor<i32>
    }
    return %2#3, %2#4 : tensor<300xf32>, tensor<300x16xf32>
  }
}
