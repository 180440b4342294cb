module @jit_segments attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}, %arg1: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<7xi32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x", "y"}>}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<7xi32>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %3 = "stablehlo.scatter"(%1, %2, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
      %5 = stablehlo.add %arg2, %arg3 : tensor<i32>
      stablehlo.return %5 : tensor<i32>
    }) : (tensor<7xi32>, tensor<8x1xi32>, tensor<8xi32>) -> tensor<7xi32>
    %4 = sdy.sharding_constraint %3 <@mesh, [{}], unreduced={"x", "y"}> : tensor<7xi32>
    return %4 : tensor<7xi32>
  }
}
