// Sizes that are known when the program runs, and bounds on them.
module @dynamic {
  func.func public @main(%arg0: tensor<?x4xf32>, %arg1: tensor<2xi32>, %arg2: tensor<f32>, %arg3: tensor<?x4xf32, #stablehlo.bounds<8, ?>>, %arg4: tensor<i32>) -> tensor<?x4xf32> {
    %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %1 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0, 1] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 1>} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %2 = stablehlo.dynamic_iota %arg1, dim = 0 : (tensor<2xi32>) -> tensor<?x4xf32>
    %3 = stablehlo.dynamic_pad %arg0, %arg2, %arg1, %arg1, %arg1 : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %4 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %5 = stablehlo.real_dynamic_slice %arg0, %arg1, %arg1, %arg1 : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x4xf32>
    %6 = stablehlo.set_dimension_size %arg3, %arg4, dim = 0 : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>
    %7 = "stablehlo.dynamic_gather"(%arg0, %arg1, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [0, 1]>}> : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?xf32>
    return %4 : tensor<?x4xf32>
  }
  func.func private @convolution(%arg0: tensor<1x8x8x2xf32>, %arg1: tensor<3x3x2x4xf32>, %arg2: tensor<2x2xi32>) -> tensor<1x?x?x4xf32> {
    %0 = "stablehlo.dynamic_conv"(%arg0, %arg1, %arg2) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>, tensor<2x2xi32>) -> tensor<1x?x?x4xf32>
    return %0 : tensor<1x?x?x4xf32>
  }
}
