module @jit_cotangent attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
    %1 = stablehlo.cosine %0 : tensor<8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}]> : tensor<8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = sdy.sharding_constraint %cst <@mesh, []> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{"x"}]> : tensor<8xf32>
    %6 = stablehlo.multiply %5, %2 : tensor<8xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{"x"}]> : tensor<8xf32>
    %8 = sdy.sharding_constraint %7 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
    return %8 : tensor<8xf32>
  }
}
