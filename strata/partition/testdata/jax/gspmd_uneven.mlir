module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10x6xf32> {mhlo.sharding = "{replicated}"}, %arg1: tensor<6x7xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<7xf32> {jax.result_info = "result[1]"}, tensor<9x7xf32> {jax.result_info = "result[2]"}, tensor<10x7xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "", mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0)}"} : (tensor<10x6xf32>) -> tensor<10x6xf32>
    %1 = stablehlo.custom_call @Sharding(%arg1) {backend_config = "", mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<6x7xf32>) -> tensor<6x7xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x6xf32>, tensor<6x7xf32>) -> tensor<10x7xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {backend_config = "", mhlo.sharding = "{devices=[8,1]<=[8]}"} : (tensor<10x7xf32>) -> tensor<10x7xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<10x7xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [0] : (tensor<10x7xf32>, tensor<f32>) -> tensor<7xf32>
    %6 = stablehlo.concatenate %3, %arg0, dim = 1 : (tensor<10x7xf32>, tensor<10x6xf32>) -> tensor<10x13xf32>
    %7 = stablehlo.slice %6 [1:10, 0:13:2] : (tensor<10x13xf32>) -> tensor<9x7xf32>
    %8 = call @cumsum(%3) : (tensor<10x7xf32>) -> tensor<10x7xf32>
    return %4, %5, %7, %8 : tensor<f32>, tensor<7xf32>, tensor<9x7xf32>, tensor<10x7xf32>
  }
  func.func private @cumsum(%arg0: tensor<10x7xf32>) -> tensor<10x7xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<10x7xf32>) -> tensor<10x7xf32>
    return %0 : tensor<10x7xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<10x7xf32>) -> tensor<10x7xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[9, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 10, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<10x7xf32>, tensor<f32>) -> tensor<10x7xf32>
    return %1 : tensor<10x7xf32>
  }
}
