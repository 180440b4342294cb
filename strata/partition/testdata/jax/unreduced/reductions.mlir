module @jit_reductions attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}, %arg1: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<6xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x", "y"}>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [], unreduced={"x", "y"}>}, tensor<i32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [], unreduced={"y"}>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x6xf32>, tensor<f32>) -> tensor<6xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}], unreduced={"x", "y"}> : tensor<6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %3 = sdy.sharding_constraint %2 <@mesh, [], unreduced={"x", "y"}> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.reduce(%arg1 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
    %5 = sdy.sharding_constraint %4 <@mesh, [], unreduced={"y"}> : tensor<i32>
    return %1, %3, %5 : tensor<6xf32>, tensor<f32>, tensor<i32>
  }
}
