module {
  sdy.mesh @m = <["x"=2, "y"=2]>
  func.func @main(%arg0: tensor<2x6xf32>) -> (tensor<4x3xf32>, tensor<2x6xf32>) {
    %0 = "stablehlo.all_to_all"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<2x6xf32>) -> tensor<4x3xf32>
    %1 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>, source_target_pairs = dense<[[0, 0], [1, 2], [3, 3], [2, 1]]> : tensor<4x2xi64>}> : (tensor<2x6xf32>) -> tensor<2x6xf32>
    return %0, %1 : tensor<4x3xf32>, tensor<2x6xf32>
  }
}
