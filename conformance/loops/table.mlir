module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf32>) -> (tensor<32x32xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %c, %iterArg_2 = %arg0) : tensor<i32>, tensor<i32>, tensor<32x32xf32>
    cond {
      %c_3 = stablehlo.constant dense<31> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:2 = func.call @closed_call(%iterArg_1, %iterArg_2) : (tensor<i32>, tensor<32x32xf32>) -> (tensor<i32>, tensor<32x32xf32>)
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg, %c_3 : tensor<i32>
      stablehlo.return %2, %1#0, %1#1 : tensor<i32>, tensor<i32>, tensor<32x32xf32>
    }
    return %0#2 : tensor<32x32xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<32x32xf32>) -> (tensor<i32>, tensor<32x32xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.subtract %arg0, %c_0 : tensor<i32>
    %2 = stablehlo.convert %1 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %2, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<32> : tensor<i32>
    %4 = stablehlo.add %2, %c_2 : tensor<i32>
    %5 = stablehlo.select %3, %4, %2 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %c_3, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %c_6 = stablehlo.constant dense<32> : tensor<i32>
    %7 = stablehlo.add %c_5, %c_6 : tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.select %6, %7, %c_7 : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_slice %arg1, %5, %8, sizes = [1, 32] : (tensor<32x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
    %10 = stablehlo.reshape %9 : (tensor<1x32xf32>) -> tensor<32xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %12 = stablehlo.add %10, %11 : tensor<32xf32>
    %c_8 = stablehlo.constant dense<1> : tensor<i32>
    %13 = stablehlo.subtract %arg0, %c_8 : tensor<i32>
    %14 = stablehlo.convert %13 : tensor<i32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.compare LT, %14, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_10 = stablehlo.constant dense<32> : tensor<i32>
    %16 = stablehlo.add %14, %c_10 : tensor<i32>
    %17 = stablehlo.select %15, %16, %14 : tensor<i1>, tensor<i32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.compare LT, %c_11, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %c_14 = stablehlo.constant dense<32> : tensor<i32>
    %19 = stablehlo.add %c_13, %c_14 : tensor<i32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.select %18, %19, %c_15 : tensor<i1>, tensor<i32>
    %21 = stablehlo.dynamic_slice %arg1, %17, %20, sizes = [1, 32] : (tensor<32x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
    %22 = stablehlo.reshape %21 : (tensor<1x32xf32>) -> tensor<32xf32>
    %23 = call @_roll_static(%22) : (tensor<32xf32>) -> tensor<32xf32>
    %24 = stablehlo.minimum %12, %23 : tensor<32xf32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %25 = stablehlo.compare LT, %arg0, %c_16, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_17 = stablehlo.constant dense<32> : tensor<i32>
    %26 = stablehlo.add %arg0, %c_17 : tensor<i32>
    %27 = stablehlo.select %25, %26, %arg0 : tensor<i1>, tensor<i32>
    %28 = stablehlo.convert %27 : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %30 = "stablehlo.scatter"(%arg1, %29, %24) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<32x32xf32>, tensor<1xi32>, tensor<32xf32>) -> tensor<32x32xf32>
    return %0, %30 : tensor<i32>, tensor<32x32xf32>
  }
  func.func private @_roll_static(%arg0: tensor<32xf32>) -> tensor<32xf32> {
    %0 = stablehlo.slice %arg0 [31:32] : (tensor<32xf32>) -> tensor<1xf32>
    %1 = stablehlo.slice %arg0 [0:31] : (tensor<32xf32>) -> tensor<31xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xf32>, tensor<31xf32>) -> tensor<32xf32>
    return %2 : tensor<32xf32>
  }
}
