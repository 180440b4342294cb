module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xui32>) -> (tensor<2xui32> {jax.result_info = "result[0]"}, tensor<2xui32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<2xui64>
    %c = stablehlo.constant dense<1> : tensor<ui64>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<2xui64>
    %2 = stablehlo.multiply %1, %0 : tensor<2xui64>
    %c_0 = stablehlo.constant dense<32> : tensor<ui64>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui64>) -> tensor<2xui64>
    %4 = stablehlo.shift_right_logical %2, %3 : tensor<2xui64>
    %5 = stablehlo.convert %2 : (tensor<2xui64>) -> tensor<2xui32>
    %6 = stablehlo.convert %4 : (tensor<2xui64>) -> tensor<2xui32>
    %7 = stablehlo.add %arg0, %6 : tensor<2xui32>
    %8 = stablehlo.add %arg0, %5 : tensor<2xui32>
    return %7, %8 : tensor<2xui32>, tensor<2xui32>
  }
}
