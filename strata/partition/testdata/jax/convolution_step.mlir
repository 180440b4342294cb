module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x6x6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}, {}, {}]>}, %arg1: tensor<3x3x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"y"}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<3x3x4x8xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<8x6x6x8xf32>
    %1 = call @relu(%0) : (tensor<8x6x6x8xf32>) -> tensor<8x6x6x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x6x6x8xf32>
    %3 = stablehlo.compare GT, %0, %2, FLOAT : (tensor<8x6x6x8xf32>, tensor<8x6x6x8xf32>) -> tensor<8x6x6x8xi1>
    %4 = stablehlo.multiply %1, %1 : tensor<8x6x6x8xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x6x6x8xf32>
    %6 = stablehlo.multiply %5, %1 : tensor<8x6x6x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%4 init: %cst_1) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<8x6x6x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<2.304000e+03> : tensor<f32>
    %8 = stablehlo.divide %7, %cst_2 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<2.304000e+03> : tensor<f32>
    %9 = stablehlo.divide %cst_3, %cst_4 : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<8x6x6x8xf32>
    %11 = stablehlo.multiply %10, %6 : tensor<8x6x6x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x6x6x8xf32>
    %13 = stablehlo.select %3, %11, %12 : tensor<8x6x6x8xi1>, tensor<8x6x6x8xf32>
    %14 = stablehlo.convolution(%arg0, %13) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x6x6x4xf32>, tensor<8x6x6x8xf32>) -> tensor<3x3x4x8xf32>
    %15 = stablehlo.subtract %arg1, %14 : tensor<3x3x4x8xf32>
    %16 = sdy.sharding_constraint %15 <@mesh, [{}, {}, {}, {"y"}]> : tensor<3x3x4x8xf32>
    return %8, %16 : tensor<f32>, tensor<3x3x4x8xf32>
  }
  func.func private @relu(%arg0: tensor<8x6x6x8xf32>) -> tensor<8x6x6x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x6x6x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<8x6x6x8xf32>
    return %1 : tensor<8x6x6x8xf32>
  }
}
