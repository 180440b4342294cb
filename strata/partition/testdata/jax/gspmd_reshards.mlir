module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x12xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"}) -> (tensor<4x2x12xf32> {jax.result_info = "result[0]"}, tensor<12x8xf32> {jax.result_info = "result[1]"}, tensor<8x12xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "", mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0)}"} : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x12xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<8x12xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {backend_config = "", mhlo.sharding = "{devices=[1,8]<=[2,4]T(1,0)}"} : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %4 = stablehlo.reshape %3 : (tensor<8x12xf32>) -> tensor<4x2x12xf32>
    %5 = stablehlo.custom_call @Sharding(%4) {backend_config = "", mhlo.sharding = "{devices=[4,2,1]<=[2,4]T(1,0)}"} : (tensor<4x2x12xf32>) -> tensor<4x2x12xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x2x12xf32>
    %7 = stablehlo.add %5, %6 : tensor<4x2x12xf32>
    %8 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
    %9 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "", mhlo.sharding = "{devices=[8,1]<=[8]}"} : (tensor<8x12xf32>) -> tensor<8x12xf32>
    return %7, %8, %9 : tensor<4x2x12xf32>, tensor<12x8xf32>, tensor<8x12xf32>
  }
}
