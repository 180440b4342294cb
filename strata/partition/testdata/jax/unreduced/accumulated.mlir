module @jit_accumulated attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<3x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> (tensor<4x4xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<4x4xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}], unreduced={"x"}> : tensor<4x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c, %iterArg_1 = %2) : tensor<3x8x4xf32>, tensor<i32>, tensor<4x4xf32>
    cond {
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %8 = sdy.sharding_constraint %iterArg_0 <@mesh, []> : tensor<i32>
      %9 = sdy.sharding_constraint %c_2 <@mesh, []> : tensor<i32>
      %10 = stablehlo.compare LT, %8, %9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    } do {
      %8 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_0) : (tensor<3x8x4xf32>, tensor<i32>) -> tensor<8x4xf32>
      %9 = func.call @closed_call(%iterArg_1, %8) : (tensor<4x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %10 = sdy.sharding_constraint %iterArg_0 <@mesh, []> : tensor<i32>
      %11 = sdy.sharding_constraint %c_2 <@mesh, []> : tensor<i32>
      %12 = stablehlo.add %10, %11 : tensor<i32>
      %13 = sdy.sharding_constraint %12 <@mesh, []> : tensor<i32>
      stablehlo.return %iterArg, %13, %9 : tensor<3x8x4xf32>, tensor<i32>, tensor<4x4xf32>
    }
    %4 = sdy.sharding_constraint %3#1 <@mesh, []> : tensor<i32>
    %5 = sdy.sharding_constraint %3#2 <@mesh, [{}, {}], unreduced={"x"}> : tensor<4x4xf32>
    %6 = sdy.sharding_constraint %5 <@mesh, [{}, {}], unreduced={"x"}> : tensor<4x4xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{}, {}]> : tensor<4x4xf32>
    return %7 : tensor<4x4xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x8x4xf32>, %arg1: tensor<i32>) -> tensor<8x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 4] : (tensor<3x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}, {}]> : tensor<1x8x4xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
  func.func private @closed_call(%arg0: tensor<4x4xf32>, %arg1: tensor<8x4xf32>) -> tensor<4x4xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = sdy.sharding_constraint %cst <@mesh, []> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    %3 = stablehlo.dot_general %2, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %4 = sdy.sharding_constraint %3 <@mesh, [{}, {}], unreduced={"x"}> : tensor<4x4xf32>
    %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %6 = sdy.sharding_constraint %5 <@mesh, [{}, {}], unreduced={"x"}> : tensor<4x4xf32>
    %7 = stablehlo.add %arg0, %6 : tensor<4x4xf32>
    %8 = sdy.sharding_constraint %7 <@mesh, [{}, {}], unreduced={"x"}> : tensor<4x4xf32>
    return %8 : tensor<4x4xf32>
  }
}
