module {
  sdy.mesh @m = <["x"=2]>
  func.func @main(%arg0: tensor<5xf32>) -> tensor<f32> {
    %0 = stablehlo.partition_id : tensor<ui32>
    %c = stablehlo.constant dense<[0, 3]> : tensor<2xi32>
    %1 = stablehlo.dynamic_slice %c, %0, sizes = [1] : (tensor<2xi32>, tensor<ui32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.pad %arg0, %cst, low = [0], high = [1], interior = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<6xf32>
    %4 = stablehlo.dynamic_slice %3, %2, sizes = [3] : (tensor<6xf32>, tensor<i32>) -> tensor<3xf32>
    %c_0 = stablehlo.constant dense<[5, 2]> : tensor<2xi32>
    %5 = stablehlo.dynamic_slice %c_0, %0, sizes = [1] : (tensor<2xi32>, tensor<ui32>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %8 = stablehlo.iota dim = 0 : tensor<3xi32>
    %9 = stablehlo.compare LT, %8, %7, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %11 = stablehlo.select %9, %4, %10 : tensor<3xi1>, tensor<3xf32>
    %12 = stablehlo.reduce(%11 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %13 = "stablehlo.all_reduce"(%12) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %14 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %14 : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    return %13 : tensor<f32>
  }
}
