module @m {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}, {?}p1], replicated={"y"}> : tensor<8x8xf32>
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %2 = sdy.propagation_barrier %1 allowed_direction=FORWARD : tensor<8x8xf32>
    sdy.sharding_group %2 group_id=3 : tensor<8x8xf32>
    %3 = sdy.manual_computation(%2, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<4x8xf32>, %arg3: tensor<4x8xf32>) {
      %9 = stablehlo.add %arg2, %arg3 : tensor<4x8xf32>
      sdy.return %9 : tensor<4x8xf32>
    } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = sdy.named_computation<"foo">(%3) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] (%arg2: tensor<8x8xf32>) {
      %9 = stablehlo.add %arg2, %arg2 : tensor<8x8xf32>
      sdy.return %9 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{}, {}]> : tensor<8x8xf32>
    %6 = stablehlo.create_token : !stablehlo.token
    %7 = sdy.sharding_constraint %6 <@mesh, []> : !stablehlo.token
    %8 = sdy.manual_computation(%5) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={} (%arg2: tensor<8x8xf32>) {
      sdy.return %arg2 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %8 : tensor<8x8xf32>
  }
}
