module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<4x2x12xf32> {jax.result_info = "result[0]"}, tensor<12x8xf32> {jax.result_info = "result[1]"}, tensor<8x12xf32> {jax.result_info = "result[2]"}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"y"}, {"x"}]> : tensor<8x12xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x12xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<8x12xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {"y", "x"}]> : tensor<8x12xf32>
    %4 = stablehlo.reshape %3 : (tensor<8x12xf32>) -> tensor<4x2x12xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{"y"}, {"x"}, {}]> : tensor<4x2x12xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x2x12xf32>
    %7 = stablehlo.add %5, %6 : tensor<4x2x12xf32>
    %8 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
    %9 = sdy.sharding_constraint %arg0 <@mesh, [{"x", "y"}, {}]> : tensor<8x12xf32>
    return %7, %8, %9 : tensor<4x2x12xf32>, tensor<12x8xf32>, tensor<8x12xf32>
  }
}
