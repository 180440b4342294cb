module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1200xf32>) -> (tensor<1200xf32> {jax.result_info = "result[0]"}, tensor<1200xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<1200xi32>
    %c = stablehlo.constant dense<7> : tensor<i32>
    %1 = call @remainder(%0, %c) : (tensor<1200xi32>, tensor<i32>) -> tensor<1200xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1200xf32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3:4 = stablehlo.while(%iterArg = %1, %iterArg_1 = %c_0, %iterArg_2 = %arg0, %iterArg_3 = %2) : tensor<1200xi32>, tensor<i32>, tensor<1200xf32>, tensor<1200xf32>
    cond {
      %c_4 = stablehlo.constant dense<1200> : tensor<i32>
      %4 = stablehlo.compare LT, %iterArg_1, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_1) : (tensor<1200xi32>, tensor<i32>) -> tensor<i32>
      %5:2 = func.call @closed_call(%iterArg_2, %4) : (tensor<1200xf32>, tensor<i32>) -> (tensor<1200xf32>, tensor<f32>)
      %6 = func.call @dynamic_update_index_in_dim(%iterArg_3, %5#1, %iterArg_1) : (tensor<1200xf32>, tensor<f32>, tensor<i32>) -> tensor<1200xf32>
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.add %iterArg_1, %c_4 : tensor<i32>
      stablehlo.return %iterArg, %7, %5#0, %6 : tensor<1200xi32>, tensor<i32>, tensor<1200xf32>, tensor<1200xf32>
    }
    return %3#2, %3#3 : tensor<1200xf32>, tensor<1200xf32>
  }
  func.func private @remainder(%arg0: tensor<1200xi32>, %arg1: tensor<i32>) -> tensor<1200xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<1200xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<1200xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<1200xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<1200xi32>, tensor<1200xi32>) -> tensor<1200xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<1200xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<1200xi32>, tensor<1200xi32>) -> tensor<1200xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<1200xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<1200xi1>, tensor<1200xi1>) -> tensor<1200xi1>
    %12 = stablehlo.and %11, %6 : tensor<1200xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<1200xi32>
    %14 = stablehlo.add %4, %13 : tensor<1200xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<1200xi1>, tensor<1200xi32>
    return %15 : tensor<1200xi32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<1200xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<1200xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<1200xf32>, %arg1: tensor<i32>) -> (tensor<1200xf32>, tensor<f32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1200> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %3 = stablehlo.dynamic_slice %arg0, %2, sizes = [1] : (tensor<1200xf32>, tensor<i32>) -> tensor<1xf32>
    %4 = stablehlo.reshape %3 : (tensor<1xf32>) -> tensor<f32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.add %4, %cst : tensor<f32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<1200> : tensor<i32>
    %7 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %10 = "stablehlo.scatter"(%arg0, %9, %5) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<1200xf32>, tensor<1xi32>, tensor<f32>) -> tensor<1200xf32>
    %11 = stablehlo.slice %arg0 [0:1] : (tensor<1200xf32>) -> tensor<1xf32>
    %12 = stablehlo.reshape %11 : (tensor<1xf32>) -> tensor<f32>
    return %10, %12 : tensor<1200xf32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<1200xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<1200xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<1200xf32>, tensor<1xf32>, tensor<i32>) -> tensor<1200xf32>
    return %1 : tensor<1200xf32>
  }
}
