module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<300xf32>) -> (tensor<300xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<299xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<299xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<299x1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %3:6 = stablehlo.while(%iterArg = %c_2, %iterArg_6 = %c, %iterArg_7 = %arg0, %iterArg_8 = %0, %iterArg_9 = %1, %iterArg_10 = %2) : tensor<i32>, tensor<i32>, tensor<300xf32>, tensor<299xi32>, tensor<299xf32>, tensor<299x1xi32>
    cond {
      %c_11 = stablehlo.constant dense<299> : tensor<i32>
      %9 = stablehlo.compare LT, %iterArg, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9:5 = func.call @closed_call(%iterArg_6, %iterArg_7) : (tensor<i32>, tensor<300xf32>) -> (tensor<i32>, tensor<300xf32>, tensor<i32>, tensor<f32>, tensor<1xi32>)
      %10 = func.call @dynamic_update_index_in_dim(%iterArg_8, %9#2, %iterArg) : (tensor<299xi32>, tensor<i32>, tensor<i32>) -> tensor<299xi32>
      %11 = func.call @dynamic_update_index_in_dim_0(%iterArg_9, %9#3, %iterArg) : (tensor<299xf32>, tensor<f32>, tensor<i32>) -> tensor<299xf32>
      %12 = func.call @dynamic_update_index_in_dim_1(%iterArg_10, %9#4, %iterArg) : (tensor<299x1xi32>, tensor<1xi32>, tensor<i32>) -> tensor<299x1xi32>
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %13 = stablehlo.add %iterArg, %c_11 : tensor<i32>
      stablehlo.return %13, %9#0, %9#1, %10, %11, %12 : tensor<i32>, tensor<i32>, tensor<300xf32>, tensor<299xi32>, tensor<299xf32>, tensor<299x1xi32>
    }
    %4 = stablehlo.slice %3#2 [299:300] : (tensor<300xf32>) -> tensor<1xf32>
    %5 = stablehlo.reshape %4 : (tensor<1xf32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.pad %6, %cst_4, low = [299], high = [0], interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<300xf32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %8:5 = stablehlo.while(%iterArg = %3#3, %iterArg_6 = %3#4, %iterArg_7 = %3#5, %iterArg_8 = %c_5, %iterArg_9 = %7) : tensor<299xi32>, tensor<299xf32>, tensor<299x1xi32>, tensor<i32>, tensor<300xf32>
    cond {
      %c_10 = stablehlo.constant dense<299> : tensor<i32>
      %9 = stablehlo.compare LT, %iterArg_8, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %c_10 = stablehlo.constant dense<299> : tensor<i32>
      %9 = stablehlo.subtract %c_10, %iterArg_8 : tensor<i32>
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %10 = stablehlo.subtract %9, %c_11 : tensor<i32>
      %11 = func.call @dynamic_index_in_dim(%iterArg, %10) : (tensor<299xi32>, tensor<i32>) -> tensor<i32>
      %12 = func.call @dynamic_index_in_dim_2(%iterArg_6, %10) : (tensor<299xf32>, tensor<i32>) -> tensor<f32>
      %13 = func.call @dynamic_index_in_dim_3(%iterArg_7, %10) : (tensor<299x1xi32>, tensor<i32>) -> tensor<1xi32>
      %14 = func.call @closed_call_4(%iterArg_9, %11, %12, %13) : (tensor<300xf32>, tensor<i32>, tensor<f32>, tensor<1xi32>) -> tensor<300xf32>
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %15 = stablehlo.add %iterArg_8, %c_12 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_6, %iterArg_7, %15, %14 : tensor<299xi32>, tensor<299xf32>, tensor<299x1xi32>, tensor<i32>, tensor<300xf32>
    }
    return %8#4 : tensor<300xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<300xf32>) -> (tensor<i32>, tensor<300xf32>, tensor<i32>, tensor<f32>, tensor<1xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %arg0, %c_0 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.compare LT, %arg0, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.convert %arg0 : tensor<i32>
    %c_2 = stablehlo.constant dense<300> : tensor<i32>
    %4 = stablehlo.add %3, %c_2 : tensor<i32>
    %5 = stablehlo.select %2, %4, %arg0 : tensor<i1>, tensor<i32>
    %6 = stablehlo.dynamic_slice %arg1, %5, sizes = [1] : (tensor<300xf32>, tensor<i32>) -> tensor<1xf32>
    %7 = stablehlo.reshape %6 : (tensor<1xf32>) -> tensor<f32>
    %8 = stablehlo.sine %7 : tensor<f32>
    %9 = stablehlo.cosine %7 : tensor<f32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.compare LT, %1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<300> : tensor<i32>
    %11 = stablehlo.add %1, %c_4 : tensor<i32>
    %12 = stablehlo.select %10, %11, %1 : tensor<i1>, tensor<i32>
    %13 = stablehlo.convert %12 : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %15 = "stablehlo.scatter"(%arg1, %14, %8) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<300xf32>, tensor<1xi32>, tensor<f32>) -> tensor<300xf32>
    return %0, %15, %5, %9, %14 : tensor<i32>, tensor<300xf32>, tensor<i32>, tensor<f32>, tensor<1xi32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<299xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<299xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<299xi32>, tensor<1xi32>, tensor<i32>) -> tensor<299xi32>
    return %1 : tensor<299xi32>
  }
  func.func private @dynamic_update_index_in_dim_0(%arg0: tensor<299xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<299xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<299xf32>, tensor<1xf32>, tensor<i32>) -> tensor<299xf32>
    return %1 : tensor<299xf32>
  }
  func.func private @dynamic_update_index_in_dim_1(%arg0: tensor<299x1xi32>, %arg1: tensor<1xi32>, %arg2: tensor<i32>) -> tensor<299x1xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<299x1xi32>, tensor<1x1xi32>, tensor<i32>, tensor<i32>) -> tensor<299x1xi32>
    return %1 : tensor<299x1xi32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<299xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<299xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<299xf32>, %arg1: tensor<i32>) -> tensor<f32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<299xf32>, tensor<i32>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @dynamic_index_in_dim_3(%arg0: tensor<299x1xi32>, %arg1: tensor<i32>) -> tensor<1xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 1] : (tensor<299x1xi32>, tensor<i32>, tensor<i32>) -> tensor<1x1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1x1xi32>) -> tensor<1xi32>
    return %1 : tensor<1xi32>
  }
  func.func private @closed_call_4(%arg0: tensor<300xf32>, %arg1: tensor<i32>, %arg2: tensor<f32>, %arg3: tensor<1xi32>) -> tensor<300xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = "stablehlo.scatter"(%arg0, %arg3, %cst) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<300xf32>, tensor<1xi32>, tensor<f32>) -> tensor<300xf32>
    %c = stablehlo.constant dense<299> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.compare GE, %arg3, %1, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    %3 = stablehlo.compare LE, %arg3, %c, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    %4 = stablehlo.and %2, %3 : tensor<1xi1>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %5 = stablehlo.reduce(%4 init: %c_1) applies stablehlo.and across dimensions = [0] : (tensor<1xi1>, tensor<i1>) -> tensor<i1>
    %6 = "stablehlo.gather"(%arg0, %arg3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<300xf32>, tensor<1xi32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.select %5, %6, %cst_2 : tensor<i1>, tensor<f32>
    %8 = stablehlo.multiply %7, %arg2 : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<300xf32>
    %11 = stablehlo.dynamic_update_slice %10, %9, %arg1 : (tensor<300xf32>, tensor<1xf32>, tensor<i32>) -> tensor<300xf32>
    %12 = stablehlo.add %0, %11 : tensor<300xf32>
    return %12 : tensor<300xf32>
  }
}
