module @jit_layers attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<2x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %arg1: tensor<3x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<3x4x4xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}, {}]> : tensor<3x4x4xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}, {}], unreduced={"x"}> : tensor<3x4x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:4 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1, %iterArg_1 = %c, %iterArg_2 = %2) : tensor<2x8x4xf32>, tensor<3x4x4xf32>, tensor<i32>, tensor<3x4x4xf32>
    cond {
      %c_3 = stablehlo.constant dense<2> : tensor<i32>
      %8 = sdy.sharding_constraint %iterArg_1 <@mesh, []> : tensor<i32>
      %9 = sdy.sharding_constraint %c_3 <@mesh, []> : tensor<i32>
      %10 = stablehlo.compare LT, %8, %9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    } do {
      %8 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_1) : (tensor<2x8x4xf32>, tensor<i32>) -> tensor<8x4xf32>
      %9 = func.call @closed_call(%iterArg_0, %iterArg_2, %8) : (tensor<3x4x4xf32>, tensor<3x4x4xf32>, tensor<8x4xf32>) -> tensor<3x4x4xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %10 = sdy.sharding_constraint %iterArg_1 <@mesh, []> : tensor<i32>
      %11 = sdy.sharding_constraint %c_3 <@mesh, []> : tensor<i32>
      %12 = stablehlo.add %10, %11 : tensor<i32>
      %13 = sdy.sharding_constraint %12 <@mesh, []> : tensor<i32>
      stablehlo.return %iterArg, %iterArg_0, %13, %9 : tensor<2x8x4xf32>, tensor<3x4x4xf32>, tensor<i32>, tensor<3x4x4xf32>
    }
    %4 = sdy.sharding_constraint %3#2 <@mesh, []> : tensor<i32>
    %5 = sdy.sharding_constraint %3#3 <@mesh, [{}, {}, {}], unreduced={"x"}> : tensor<3x4x4xf32>
    %6 = sdy.sharding_constraint %5 <@mesh, [{}, {}, {}], unreduced={"x"}> : tensor<3x4x4xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{}, {}, {}]> : tensor<3x4x4xf32>
    return %7 : tensor<3x4x4xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<2x8x4xf32>, %arg1: tensor<i32>) -> tensor<8x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 4] : (tensor<2x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}, {}]> : tensor<1x8x4xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
  func.func private @closed_call(%arg0: tensor<3x4x4xf32>, %arg1: tensor<3x4x4xf32>, %arg2: tensor<8x4xf32>) -> tensor<3x4x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x8x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}, {}]> : tensor<3x8x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:4 = stablehlo.while(%iterArg = %arg0, %iterArg_3 = %c, %iterArg_4 = %arg2, %iterArg_5 = %1) : tensor<3x4x4xf32>, tensor<i32>, tensor<8x4xf32>, tensor<3x8x4xf32>
    cond {
      %c_6 = stablehlo.constant dense<3> : tensor<i32>
      %18 = sdy.sharding_constraint %iterArg_3 <@mesh, []> : tensor<i32>
      %19 = sdy.sharding_constraint %c_6 <@mesh, []> : tensor<i32>
      %20 = stablehlo.compare LT, %18, %19, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      %18 = func.call @dynamic_index_in_dim_0(%iterArg, %iterArg_3) : (tensor<3x4x4xf32>, tensor<i32>) -> tensor<4x4xf32>
      %19:2 = func.call @closed_call_1(%iterArg_4, %18) : (tensor<8x4xf32>, tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
      %20 = func.call @dynamic_update_index_in_dim(%iterArg_5, %19#1, %iterArg_3) : (tensor<3x8x4xf32>, tensor<8x4xf32>, tensor<i32>) -> tensor<3x8x4xf32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %21 = sdy.sharding_constraint %iterArg_3 <@mesh, []> : tensor<i32>
      %22 = sdy.sharding_constraint %c_6 <@mesh, []> : tensor<i32>
      %23 = stablehlo.add %21, %22 : tensor<i32>
      %24 = sdy.sharding_constraint %23 <@mesh, []> : tensor<i32>
      stablehlo.return %iterArg, %24, %19#0, %20 : tensor<3x4x4xf32>, tensor<i32>, tensor<8x4xf32>, tensor<3x8x4xf32>
    }
    %3 = sdy.sharding_constraint %2#1 <@mesh, []> : tensor<i32>
    %4 = sdy.sharding_constraint %2#2 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    %5 = sdy.sharding_constraint %2#3 <@mesh, [{}, {"x"}, {}]> : tensor<3x8x4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = sdy.sharding_constraint %cst_0 <@mesh, []> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %8 = sdy.sharding_constraint %7 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x4x4xf32>
    %10 = sdy.sharding_constraint %9 <@mesh, [{}, {}, {}], unreduced={"x"}> : tensor<3x4x4xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %11:5 = stablehlo.while(%iterArg = %arg0, %iterArg_3 = %5, %iterArg_4 = %c_2, %iterArg_5 = %8, %iterArg_6 = %10) : tensor<3x4x4xf32>, tensor<3x8x4xf32>, tensor<i32>, tensor<8x4xf32>, tensor<3x4x4xf32>
    cond {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %18 = sdy.sharding_constraint %iterArg_4 <@mesh, []> : tensor<i32>
      %19 = sdy.sharding_constraint %c_7 <@mesh, []> : tensor<i32>
      %20 = stablehlo.compare LT, %18, %19, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %18 = stablehlo.subtract %c_7, %iterArg_4 : tensor<i32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.subtract %18, %c_8 : tensor<i32>
      %20 = func.call @dynamic_index_in_dim_0(%iterArg, %19) : (tensor<3x4x4xf32>, tensor<i32>) -> tensor<4x4xf32>
      %21 = func.call @dynamic_index_in_dim_2(%iterArg_3, %19) : (tensor<3x8x4xf32>, tensor<i32>) -> tensor<8x4xf32>
      %22:2 = func.call @closed_call_3(%iterArg_5, %20, %21) : (tensor<8x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>)
      %23 = func.call @dynamic_update_index_in_dim_4(%iterArg_6, %22#1, %19) : (tensor<3x4x4xf32>, tensor<4x4xf32>, tensor<i32>) -> tensor<3x4x4xf32>
      %c_9 = stablehlo.constant dense<1> : tensor<i32>
      %24 = sdy.sharding_constraint %iterArg_4 <@mesh, []> : tensor<i32>
      %25 = sdy.sharding_constraint %c_9 <@mesh, []> : tensor<i32>
      %26 = stablehlo.add %24, %25 : tensor<i32>
      %27 = sdy.sharding_constraint %26 <@mesh, []> : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %27, %22#0, %23 : tensor<3x4x4xf32>, tensor<3x8x4xf32>, tensor<i32>, tensor<8x4xf32>, tensor<3x4x4xf32>
    }
    %12 = sdy.sharding_constraint %11#2 <@mesh, []> : tensor<i32>
    %13 = sdy.sharding_constraint %11#3 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    %14 = sdy.sharding_constraint %11#4 <@mesh, [{}, {}, {}], unreduced={"x"}> : tensor<3x4x4xf32>
    %15 = sdy.sharding_constraint %14 <@mesh, [{}, {}, {}], unreduced={"x"}> : tensor<3x4x4xf32>
    %16 = stablehlo.add %arg1, %15 : tensor<3x4x4xf32>
    %17 = sdy.sharding_constraint %16 <@mesh, [{}, {}, {}], unreduced={"x"}> : tensor<3x4x4xf32>
    return %17 : tensor<3x4x4xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<3x4x4xf32>, %arg1: tensor<i32>) -> tensor<4x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 4, 4] : (tensor<3x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}, {}]> : tensor<1x4x4xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {}]> : tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<8x4xf32>, %arg1: tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    return %1, %arg0 : tensor<8x4xf32>, tensor<8x4xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x8x4xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<i32>) -> tensor<3x8x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}, {}]> : tensor<1x8x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.dynamic_update_slice %arg0, %1, %arg2, %c, %c_0 : (tensor<3x8x4xf32>, tensor<1x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x8x4xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {"x"}, {}]> : tensor<3x8x4xf32>
    return %3 : tensor<3x8x4xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<3x8x4xf32>, %arg1: tensor<i32>) -> tensor<8x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 4] : (tensor<3x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}, {}]> : tensor<1x8x4xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
  func.func private @closed_call_3(%arg0: tensor<8x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}], unreduced={"x"}> : tensor<4x4xf32>
    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {}], unreduced={"x"}> : tensor<4x4xf32>
    %4 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    return %5, %3 : tensor<8x4xf32>, tensor<4x4xf32>
  }
  func.func private @dynamic_update_index_in_dim_4(%arg0: tensor<3x4x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<i32>) -> tensor<3x4x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}, {}], unreduced={"x"}> : tensor<1x4x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.dynamic_update_slice %arg0, %1, %arg2, %c, %c_0 : (tensor<3x4x4xf32>, tensor<1x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x4xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {}, {}], unreduced={"x"}> : tensor<3x4x4xf32>
    return %3 : tensor<3x4x4xf32>
  }
}
