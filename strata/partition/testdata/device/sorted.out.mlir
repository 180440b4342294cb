module {
  sdy.mesh @m = <["x"=2, "y"=2]>
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
    %1 = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %6 = stablehlo.compare LT, %arg1, %arg2, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    }) : (tensor<2x6xf32>) -> tensor<2x6xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.partition_id : tensor<ui32>
    %c_0 = stablehlo.constant dense<[0, 3, 0, 3]> : tensor<4xi32>
    %3 = stablehlo.dynamic_slice %c_0, %2, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
    %4 = stablehlo.reshape %3 : (tensor<1xi32>) -> tensor<i32>
    %5 = stablehlo.dynamic_slice %1, %c, %4, sizes = [2, 3] : (tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    return %5 : tensor<2x3xf32>
  }
}
