module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<300xf32>) -> (tensor<300xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %c, %iterArg_2 = %arg0) : tensor<i32>, tensor<i32>, tensor<300xf32>
    cond {
      %c_3 = stablehlo.constant dense<150> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:2 = func.call @closed_call(%iterArg_1, %iterArg_2) : (tensor<i32>, tensor<300xf32>) -> (tensor<i32>, tensor<300xf32>)
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg, %c_3 : tensor<i32>
      stablehlo.return %2, %1#0, %1#1 : tensor<i32>, tensor<i32>, tensor<300xf32>
    }
    return %0#2 : tensor<300xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<300xf32>) -> (tensor<i32>, tensor<300xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.multiply %c_0, %arg0 : tensor<i32>
    %2 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<f32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.multiply %2, %cst : tensor<f32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare LT, %1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<300> : tensor<i32>
    %5 = stablehlo.add %1, %c_2 : tensor<i32>
    %6 = stablehlo.select %4, %5, %1 : tensor<i1>, tensor<i32>
    %7 = stablehlo.convert %6 : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.convert %3 : tensor<f32>
    %10 = "stablehlo.scatter"(%arg1, %8, %9) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<300xf32>, tensor<1xi32>, tensor<f32>) -> tensor<300xf32>
    %c_3 = stablehlo.constant dense<2> : tensor<i32>
    %11 = stablehlo.multiply %c_3, %arg0 : tensor<i32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.add %11, %c_4 : tensor<i32>
    %c_5 = stablehlo.constant dense<2> : tensor<i32>
    %13 = stablehlo.multiply %c_5, %arg0 : tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.compare LT, %13, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %15 = stablehlo.convert %13 : tensor<i32>
    %c_7 = stablehlo.constant dense<300> : tensor<i32>
    %16 = stablehlo.add %15, %c_7 : tensor<i32>
    %17 = stablehlo.select %14, %16, %13 : tensor<i1>, tensor<i32>
    %18 = stablehlo.dynamic_slice %arg1, %17, sizes = [1] : (tensor<300xf32>, tensor<i32>) -> tensor<1xf32>
    %19 = stablehlo.reshape %18 : (tensor<1xf32>) -> tensor<f32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.compare LT, %12, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<300> : tensor<i32>
    %21 = stablehlo.add %12, %c_9 : tensor<i32>
    %22 = stablehlo.select %20, %21, %12 : tensor<i1>, tensor<i32>
    %23 = stablehlo.convert %22 : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %25 = "stablehlo.scatter"(%10, %24, %19) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<300xf32>, tensor<1xi32>, tensor<f32>) -> tensor<300xf32>
    return %0, %25 : tensor<i32>, tensor<300xf32>
  }
}
