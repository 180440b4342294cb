// The first parts of the run tests of openxla/shardy (see NOTICE), one program each.
// sdy_all_gather.mlir
sdy.mesh @mesh_2_2 = <["x"=2, "y"=2]>

// This function gathers a 4x4 tensor sharded 2x2 using i32 data.
func.func @all_gather_test(
  %arg0: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{"x"}, {"y"}]>}
  ) -> tensor<4x4xi32> {
  %0 = sdy.all_gather [{"x"}, {"y"}] %arg0 out_sharding=<@mesh_2_2, [{}, {}]> : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// -----
// sdy_all_reduce.mlir
sdy.mesh @mesh_2_2 = <["x"=2, "y"=2]>

// All-reduce across the entire mesh (both "x" and "y" axes).
func.func @all_reduce_xy(
  %arg0: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{}, {}]>})
  -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{}, {}]>}) {
  %0 = sdy.all_reduce {"x", "y"} %arg0 out_sharding=<@mesh_2_2, [{}, {}]> : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// All-reduce across only the "x" axis.
// In a 2x2 mesh, this creates two replica groups: {0, 2} and {1, 3}.
func.func @all_reduce_x(
  %arg0: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{}, {}]>})
  -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{}, {}]>}) {
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh_2_2, [{}, {}]> : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// -----
// sdy_all_slice.mlir
sdy.mesh @mesh_2 = <["x"=2]>
sdy.mesh @mesh_2_4 = <["x"=2, "y"=4]>

func.func @all_slice(
  %arg0: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {}]>})
  -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>}) {
  %0 = sdy.all_slice [{"x"}, {}] %arg0 out_sharding=<@mesh_2, [{"x"}, {}]> : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

func.func @all_slice_subaxis(
  %arg0: tensor<8x8xi32> {sdy.sharding = #sdy.sharding<@mesh_2_4, [{}, {}]>})
  -> (tensor<8x8xi32> {sdy.sharding = #sdy.sharding<@mesh_2_4, [{}, {"x", "y":(2)2}]>}) {
  %0 = sdy.all_slice [{}, {"x", "y":(2)2}] %arg0 out_sharding=<@mesh_2_4, [{}, {"x", "y":(2)2}]> : tensor<8x8xi32>
  return %0 : tensor<8x8xi32>
}

// -----
// sdy_all_to_all.mlir
sdy.mesh @mesh_2_2 = <["x"=2, "y"=2]>

func.func @per_dim_all_to_all(
  %arg0: tensor<2x2x2x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{"x"}, {}, {"y"}, {}]>})
  -> (tensor<2x2x2x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{}, {"x"}, {}, {"y"}]>}) {
  %0 = sdy.all_to_all [{"x"}: 0->1] %arg0
       out_sharding=<@mesh_2_2, [{}, {"x"}, {"y"}, {}]> : tensor<2x2x2x2xi32>
  %1 = sdy.all_to_all [{"y"}: 2->3] %0
       out_sharding=<@mesh_2_2, [{}, {"x"}, {}, {"y"}]> : tensor<2x2x2x2xi32>
  return %1 : tensor<2x2x2x2xi32>
}

func.func @combined_all_to_all(
  %arg0: tensor<2x2x2x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{"x"}, {}, {"y"}, {}]>})
  -> (tensor<2x2x2x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{}, {"x"}, {}, {"y"}]>}) {
  %0 = sdy.all_to_all [{"x"}: 0->1, {"y"}: 2->3] %arg0
       out_sharding=<@mesh_2_2, [{}, {"x"}, {}, {"y"}]> : tensor<2x2x2x2xi32>
  return %0 : tensor<2x2x2x2xi32>
}

// -----
// sdy_collective_permute_with_self_loops.mlir
sdy.mesh @mesh_2_2 = <["x"=2, "y"=2]>

// This function performs a collective permute that swaps the device
// order for a sharded 1D tensor.
func.func @collective_permute(
  %arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{"x", "y"}]>})
  -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{"y", "x"}]>}) {
  // Logic: In [x, y], Dev 1 has element 1 (x=0, y=1).
  // In [y, x], that same logical element 1 is at (y=0, x=1), which is Dev 2.
  // Thus, Dev 1 sends to Dev 2, and Dev 2 sends to Dev 1.
  %0 = sdy.collective_permute %arg0 out_sharding=<@mesh_2_2, [{"y", "x"}]> : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----
// sdy_collective_permute_without_self_loops.mlir
sdy.mesh @mesh_a = <["x"=4]>
sdy.mesh @mesh_b = <["x"=4], device_ids=[1, 2, 3, 0]>

// This function performs a collective permute by moving data
// between two meshes with different device orders.
func.func @collective_permute(
  %arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_a, [{"x"}]>})
  -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_b, [{"x"}]>}) {
  // Shardy identifies that Mesh A and Mesh B have different device layouts
  // for axis "x" and inserts a cyclic collective permute.
  %0 = sdy.collective_permute %arg0 out_sharding=<@mesh_b, [{"x"}]> : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----
// sdy_constant.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @sharded_dense_constant()
  -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>}) {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}, {}]>]>} dense<[
    [1, 2, 3, 4],
    [5, 6, 7, 8],
    [9, 10, 11, 12],
    [13, 14, 15, 16]
  ]> : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

func.func @sharded_splat_constant()
  -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>}) {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}, {}]>]>} dense<7> : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// -----
// sdy_reduce_scatter.mlir
sdy.mesh @mesh_2_2 = <["x"=2, "y"=2]>

func.func @per_dim_reduce_scatter(
  %arg0: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{}, {}]>}
) -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{"x"}, {"y"}]>}) {
  %0 = sdy.reduce_scatter [{"x"}, {}] %arg0 out_sharding=<@mesh_2_2, [{"x"}, {}]> : tensor<4x4xi32>
  %1 = sdy.reduce_scatter [{}, {"y"}] %0 out_sharding=<@mesh_2_2, [{"x"}, {"y"}]> : tensor<4x4xi32>
  return %1 : tensor<4x4xi32>
}

func.func @combined_reduce_scatter(
  %arg0: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{}, {}]>}
) -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{"x"}, {"y"}]>}) {
  %0 = sdy.reduce_scatter [{"x"}, {"y"}] %arg0 out_sharding=<@mesh_2_2, [{"x"}, {"y"}]> : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// -----
// single_device_add.mlir
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @single_dev_0 = <[], device_ids=[0]>
sdy.mesh @single_dev_1 = <[], device_ids=[1]>

func.func @single_device_add(
    %arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %part_id = stablehlo.partition_id : tensor<ui32>
  %part_id_i32 = stablehlo.convert %part_id : (tensor<ui32>) -> tensor<i32>
  %part_id_bc = stablehlo.broadcast_in_dim %part_id_i32, dims=[] : (tensor<i32>) -> tensor<4xi32>
  %0 = stablehlo.add %arg0, %part_id_bc {
    sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@single_dev_1, []>]>
  } : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----
// single_device_switch.mlir
sdy.mesh @mesh = <["x"=4]>
sdy.mesh @single_dev_1 = <[], device_ids=[1]>
sdy.mesh @single_dev_2 = <[], device_ids=[2]>

func.func @single_device_switch(
    %arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %part_id = stablehlo.partition_id : tensor<ui32>
  %part_id_i32 = stablehlo.convert %part_id : (tensor<ui32>) -> tensor<i32>
  %part_id_bc = stablehlo.broadcast_in_dim %part_id_i32, dims=[] : (tensor<i32>) -> tensor<4xi32>

  %c10 = stablehlo.constant dense<10> : tensor<4xi32>
  %part_id_x10 = stablehlo.multiply %part_id_bc, %c10 : tensor<4xi32>

  %0 = stablehlo.add %arg0, %part_id_bc {
    sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@single_dev_2, []>]>
  } : tensor<4xi32>

  %1 = stablehlo.add %0, %part_id_x10 {
    sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@single_dev_1, []>]>
  } : tensor<4xi32>

  return %1 : tensor<4xi32>
}

// -----
// stablehlo_all_gather.mlir
sdy.mesh @mesh_4 = <["x"=4]>

func.func @manual_all_gather(
  %arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh_4, [{"x"}, {}]>})
  -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh_4, [{}, {}]>}) {
  %0 = sdy.manual_computation(%arg0)
    in_shardings=[<@mesh_4, [{"x"}, {}]>]
    out_shardings=[<@mesh_4, [{}, {}]>]
    manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
      %1 = "stablehlo.all_gather"(%arg1) {
        all_gather_dim = 0 : i64,
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
        use_global_device_ids
      } : (tensor<4x8xf32>) -> tensor<16x8xf32>
      sdy.return %1 : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> (tensor<16x8xf32>)
  return %0 : tensor<16x8xf32>
}

// -----
// stablehlo_all_reduce.mlir
sdy.mesh @mesh_4 = <["x"=4]>

func.func @manual_all_reduce(
  %arg0: tensor<16x8xi32> {sdy.sharding = #sdy.sharding<@mesh_4, [{"x"}, {}]>})
  -> (tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh_4, [{}, {}]>}) {
  %0 = sdy.manual_computation(%arg0)
    in_shardings=[<@mesh_4, [{"x"}, {}]>]
    out_shardings=[<@mesh_4, [{}, {}]>]
    manual_axes={"x"} (%arg1: tensor<4x8xi32>) {
      %1 = "stablehlo.all_reduce"(%arg1) ({
        ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
          %2 = stablehlo.add %arg2, %arg3 : tensor<i32>
          stablehlo.return %2 : tensor<i32>
      }) {
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
        use_global_device_ids
      } : (tensor<4x8xi32>) -> tensor<4x8xi32>
      sdy.return %1 : tensor<4x8xi32>
  } : (tensor<16x8xi32>) -> (tensor<4x8xi32>)
  return %0 : tensor<4x8xi32>
}

// -----
// stablehlo_all_to_all.mlir
sdy.mesh @mesh_4 = <["x"=4]>

// This function takes a 16x8 global tensor sharded by "x" on dim 0
// (4x8 per device) and returns a 16x8 global tensor sharded by "x" on dim 1
// (16x2 per device).
func.func @manual_all_to_all(
  %arg0: tensor<16x8xi32> {sdy.sharding = #sdy.sharding<@mesh_4, [{"x"}, {}]>})
  -> (tensor<16x8xi32> {sdy.sharding = #sdy.sharding<@mesh_4, [{}, {"x"}]>}) {
  %0 = sdy.manual_computation(%arg0)
    in_shardings=[<@mesh_4, [{"x"}, {}]>]
    out_shardings=[<@mesh_4, [{}, {"x"}]>]
    manual_axes={"x"} (%arg1: tensor<4x8xi32>) {
      %1 = "stablehlo.all_to_all"(%arg1) {
        split_dimension = 1 : i64,
        concat_dimension = 0 : i64,
        split_count = 4 : i64,
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
        use_global_device_ids
      } : (tensor<4x8xi32>) -> tensor<16x2xi32>
      sdy.return %1 : tensor<16x2xi32>
  } : (tensor<16x8xi32>) -> (tensor<16x8xi32>)
  return %0 : tensor<16x8xi32>
}

// -----
// stablehlo_collective_permute.mlir
sdy.mesh @mesh_4 = <["x"=4]>

// This function takes a 16x8 global tensor sharded by "x" (4x8 per device) and
// performs a cyclic shift (0->1, 1->2, 2->3, 3->0).
func.func @manual_collective_permute(
  %arg0: tensor<16x8xi32> {sdy.sharding = #sdy.sharding<@mesh_4, [{"x"}, {}]>})
  -> (tensor<16x8xi32> {sdy.sharding = #sdy.sharding<@mesh_4, [{"x"}, {}]>}) {
  %0 = sdy.manual_computation(%arg0)
    in_shardings=[<@mesh_4, [{"x"}, {}]>]
    out_shardings=[<@mesh_4, [{"x"}, {}]>]
    manual_axes={"x"} (%arg1: tensor<4x8xi32>) {
      %1 = "stablehlo.collective_permute"(%arg1) {
        source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
      } : (tensor<4x8xi32>) -> tensor<4x8xi32>
      sdy.return %1 : tensor<4x8xi32>
  } : (tensor<16x8xi32>) -> (tensor<16x8xi32>)
  return %0 : tensor<16x8xi32>
}

// -----
// stablehlo_concatenate.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @parallel_concat(
  %arg0: tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>},
  %arg1: tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>})
  -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>}) {
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 1
  {sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}, {}]>]>}
  : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// -----
// stablehlo_convolution_shard_batch.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @parallel_conv(
  %arg0: tensor<2x4x4x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}, {}, {}]>},
  %arg1: tensor<3x3x2x4xi32>
) -> (tensor<2x2x2x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}, {}, {}]>}) {
  %0 = stablehlo.convolution(%arg0, %arg1)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 2], pad = [[0, 1], [0, 1]]}
    {
      feature_group_count = 1 : i64,
      batch_group_count = 1 : i64,
      sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}, {}, {}, {}]>]>
    } : (tensor<2x4x4x2xi32>, tensor<3x3x2x4xi32>) -> tensor<2x2x2x4xi32>
  return %0 : tensor<2x2x2x4xi32>
}

// -----
// stablehlo_convolution_shard_batch_group.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @parallel_conv(
  %arg0: tensor<2x4x4x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}, {}, {}]>},
  %arg1: tensor<3x3x2x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {}, {}, {"x"}]>}
) -> (tensor<1x2x2x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {}, {}, {"x"}]>}) {
  %0 = stablehlo.convolution(%arg0, %arg1)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 2], pad = [[0, 1], [0, 1]]}
    {
      feature_group_count = 1 : i64,
      batch_group_count = 2 : i64,
      // Add result sharding to avoid inferred type mismatches
      sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_2, [{}, {}, {}, {"x"}]>]>
    } : (tensor<2x4x4x2xi32>, tensor<3x3x2x4xi32>) -> tensor<1x2x2x4xi32>
  return %0 : tensor<1x2x2x4xi32>
}

// -----
// stablehlo_convolution_shard_contracting_dim.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @sequential_conv(%arg0: tensor<2x4x4x4xi32>, %arg1: tensor<3x3x4x4xi32>) -> tensor<2x2x2x4xi32> {
  %0 = stablehlo.convolution(%arg0, %arg1)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 2], pad = [[0, 1], [0, 1]]}
    {
      feature_group_count = 1 : i64,
      batch_group_count = 1 : i64
    } : (tensor<2x4x4x4xi32>, tensor<3x3x4x4xi32>) -> tensor<2x2x2x4xi32>
  return %0 : tensor<2x2x2x4xi32>
}

func.func @parallel_conv(
  %arg0: tensor<2x4x4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {}, {}, {"x"}]>},
  %arg1: tensor<3x3x4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {}, {"x"}, {}]>}
) -> (tensor<2x2x2x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {}, {}, {}]>}) {
  %0 = stablehlo.convolution(%arg0, %arg1)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 2], pad = [[0, 1], [0, 1]]}
    {
      feature_group_count = 1 : i64,
      batch_group_count = 1 : i64
    } : (tensor<2x4x4x4xi32>, tensor<3x3x4x4xi32>) -> tensor<2x2x2x4xi32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh_2, [{}, {}, {}, {}]> : tensor<2x2x2x4xi32>
  return %1 : tensor<2x2x2x4xi32>
}

// -----
// stablehlo_convolution_shard_feature_group.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @parallel_conv(
  %arg0: tensor<2x4x4x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {}, {}, {"x"}]>},
  %arg1: tensor<3x3x1x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {}, {}, {"x"}]>}
) -> (tensor<2x2x2x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {}, {}, {"x"}]>}) {
  %0 = stablehlo.convolution(%arg0, %arg1)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 2], pad = [[0, 1], [0, 1]]}
    {
      feature_group_count = 2 : i64,
      batch_group_count = 1 : i64,
      sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{}, {}, {}, {"x"}]>]>
    } : (tensor<2x4x4x2xi32>, tensor<3x3x1x4xi32>) -> tensor<2x2x2x4xi32>
  return %0 : tensor<2x2x2x4xi32>
}

// -----
// stablehlo_dot_general.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @sequential_dot(%arg0: tensor<2x4xi32>, %arg1: tensor<4x2xi32>) -> tensor<2x2xi32> {
  %0 = "stablehlo.dot_general"(%arg0, %arg1) {
    dot_dimension_numbers = #stablehlo.dot<
      lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [0]
    >
  } : (tensor<2x4xi32>, tensor<4x2xi32>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

func.func @parallel_dot(
  %arg0: tensor<2x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {"x"}]>},
  %arg1: tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>}
) -> (tensor<2x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {}]>}) {
  %0 = "stablehlo.dot_general"(%arg0, %arg1) {
    dot_dimension_numbers = #stablehlo.dot<
      lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [0]
    >
  } : (tensor<2x4xi32>, tensor<4x2xi32>) -> tensor<2x2xi32>

  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh_2, [{}, {}]> : tensor<2x2xi32>
  return %1 : tensor<2x2xi32>
}

// -----
// stablehlo_dot_general_indivisible.mlir
sdy.mesh @mesh_x2_y2 = <["x"=2, "y"=2]>

// Contracting dimension is sharded and indivisible (padded 3->4).
func.func @parallel_dot_contracting_indivisible(
  %arg0: tensor<3x3xf32> {sdy.sharding = #sdy.sharding<@mesh_x2_y2, [{}, {}]>},
  %arg1: tensor<3x5xf32> {sdy.sharding = #sdy.sharding<@mesh_x2_y2, [{}, {}]>})
  -> (tensor<3x5xf32> {sdy.sharding = #sdy.sharding<@mesh_x2_y2, [{}, {}]>}) {
  %0 = sdy.reshard %arg0 <@mesh_x2_y2, [{"x"}, {"y"}]> : tensor<3x3xf32>
  %1 = sdy.reshard %arg1 <@mesh_x2_y2, [{"y"}, {}]> : tensor<3x5xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh_x2_y2, [{"x"}, {}]>]>} : (tensor<3x3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %3 = sdy.reshard %2 <@mesh_x2_y2, [{}, {}]> : tensor<3x5xf32>
  return %3 : tensor<3x5xf32>
}

func.func @sequential_dot_contracting_indivisible(%arg0: tensor<3x3xf32>, %arg1: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----
// stablehlo_fft.mlir
sdy.mesh @mesh_2 = <["x"=2]>

// This function computes the FFT of a 2x4 complex tensor.
// It is sharded along dimension 0 (batch), so each device performs a 4-point
// FFT.
func.func @parallel_fft(
  %arg0: tensor<2x4xcomplex<f64>> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>})
  -> (tensor<2x4xcomplex<f64>> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>}) {
  %0 = "stablehlo.fft"(%arg0) {
    fft_length = array<i64: 4>,
    fft_type = #stablehlo<fft_type FFT>,
    sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}, {}]>]>
  } : (tensor<2x4xcomplex<f64>>) -> tensor<2x4xcomplex<f64>>
  return %0 : tensor<2x4xcomplex<f64>>
}

// -----
// stablehlo_gather_shard_reduction_dim_is_collapsed.mlir
sdy.mesh @mesh_2 = <["x"=2]>

// Sequential Baseline: Explicitly written, no shardings.
func.func @sequential_gather(%arg0: tensor<4x2xf32>, %arg1: tensor<2xi64>) -> tensor<2x2xf32> {
  %0 = "stablehlo.gather"(%arg0, %arg1) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 2>
  } : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// Parallel in global view, to be converted to a device function.
//
// ([i, j], [k]) -> ([k, j]) reduction={i}
// The sharded dim is a reduction dimensions and it is also a collapsed dim.
func.func @parallel_gather(
  %arg0: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>},
  %arg1: tensor<2xi64>) -> tensor<2x2xf32> {
  %0 = "stablehlo.gather"(%arg0, %arg1) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 2>
  } : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>

  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh_2, [{}, {}]> : tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----
// stablehlo_gather_shard_reduction_dim_is_collapsed_not_in_start_index_map.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @sequential_gather(%arg0: tensor<4x2xf32>, %arg1: tensor<2xi64>) -> tensor<2x1xf32> {
  %0 = "stablehlo.gather"(%arg0, %arg1) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1],
      collapsed_slice_dims = [0],
      start_index_map = [1],
      index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>
  } : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// ([i, j], [k]) -> ([k, j])  reduction={i}
//
func.func @parallel_gather(
  %arg0: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>},
  %arg1: tensor<2xi64>) -> tensor<2x1xf32> {
  %0 = "stablehlo.gather"(%arg0, %arg1) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1],
      collapsed_slice_dims = [0],
      start_index_map = [1],
      index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>
  } : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<2x1xf32>

  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh_2, [{}, {}]> : tensor<2x1xf32>
  return %1 : tensor<2x1xf32>
}

// -----
// stablehlo_gather_shard_two_reduction_dims.mlir
sdy.mesh @mesh_2_2 = <["x"=2, "y"=2]>

func.func @sequential_gather(%arg0: tensor<4x2x2xf32>, %arg1: tensor<2x1x2xi64>) -> tensor<2x1xf32> {
  %0 = "stablehlo.gather"(%arg0, %arg1) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [],
      collapsed_slice_dims = [0, 2],
      operand_batching_dims = [1],
      start_indices_batching_dims = [0],
      start_index_map = [0, 2],
      index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 1>
  } : (tensor<4x2x2xf32>, tensor<2x1x2xi64>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// ([r1, b, r2], [b, i, v]) -> ([b, i]) reduction={r1, r2}
//
func.func @parallel_gather(
    %arg0: tensor<4x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh_2_2, [{"x"}, {}, {"y"}]>},
    %arg1: tensor<2x1x2xi64>) -> tensor<2x1xf32> {
  %0 = "stablehlo.gather"(%arg0, %arg1) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [],
      collapsed_slice_dims = [0, 2],
      operand_batching_dims = [1],
      start_indices_batching_dims = [0],
      start_index_map = [0, 2],
      index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 1>
  } : (tensor<4x2x2xf32>, tensor<2x1x2xi64>) -> tensor<2x1xf32>

  // All-reduce across both sharded reduction axes.
  %1 = sdy.all_reduce {"x", "y"} %0 out_sharding=<@mesh_2_2, [{}, {}]> : tensor<2x1xf32>
  return %1 : tensor<2x1xf32>
}

// -----
// stablehlo_iota.mlir
sdy.mesh @mesh_2 = <["x"=2]>

// Performs the same iota as in sequential_iota, but on 2 devices in parallel.
//
// We will use sdy-opt to convert this to a device local program that
// stablehlo interpreter can execute.
//
func.func @parallel_iota()
  -> (tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}]>}) {
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}]>]>} : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----
// stablehlo_pad_indivisible.mlir
sdy.mesh @mesh_x4 = <["x"=4]>

// The pad input is sliced from 8x2 to 7x2 (indivisible, padded to 8x2).
// The original pad result size (10) is also indivisible by mesh axis size (4).
// PadForDivisibility should adjust high padding of the pad op to 3 (instead of 2)
// to make the result 12x2 (divisible). The result is then trimmed to 10x2
// after the final reshard (all_gather).
func.func @parallel_pad_extend(
  %arg0: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh_x4, [{"x"}, {}]>})
  -> (tensor<10x2xf32> {sdy.sharding = #sdy.sharding<@mesh_x4, [{}, {}]>}) {
  %0 = stablehlo.slice %arg0 [0:7, 0:2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh_x4, [{"x"}, {}]>]>} : (tensor<8x2xf32>) -> tensor<7x2xf32>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %1 = stablehlo.pad %0, %cst, low = [1, 0], high = [2, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh_x4, [{"x"}, {}]>]>} : (tensor<7x2xf32>, tensor<f32>) -> tensor<10x2xf32>
  return %1 : tensor<10x2xf32>
}

func.func @sequential_pad_extend(%arg0: tensor<8x2xf32>) -> tensor<10x2xf32> {
  %0 = stablehlo.slice %arg0 [0:7, 0:2] : (tensor<8x2xf32>) -> tensor<7x2xf32>
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %1 = stablehlo.pad %0, %cst, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<7x2xf32>, tensor<f32>) -> tensor<10x2xf32>
  return %1 : tensor<10x2xf32>
}

// -----
// stablehlo_pad_interior.mlir
sdy.mesh @mesh_a4 = <["a"=4]>

func.func @parallel_pad_interior(
  %arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_a4, [{"a"}]>})
  -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh_a4, [{}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [1], high = [0], interior = [1]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh_a4, [{"a"}]>]>} : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  %1 = sdy.reshard %0 <@mesh_a4, [{}]> : tensor<8xi32>
  return %1 : tensor<8xi32>
}

func.func @sequential_pad_interior(%arg0: tensor<4xi32>, %arg1: tensor<i32>) -> tensor<8xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [1], high = [0], interior = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----
// stablehlo_pad_large_pad.mlir
sdy.mesh @mesh_a2_b2 = <["a"=2, "b"=2]>

func.func @parallel_pad_large_pad(
  %arg0: tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh_a2_b2, [{"a"}, {}]>})
  -> (tensor<16x8xi32> {sdy.sharding = #sdy.sharding<@mesh_a2_b2, [{}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [12, 0], high = [0, 0], interior = [0, 0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh_a2_b2, [{"a"}, {}]>]>} : (tensor<4x8xi32>, tensor<i32>) -> tensor<16x8xi32>
  %1 = sdy.reshard %0 <@mesh_a2_b2, [{}, {}]> : tensor<16x8xi32>
  return %1 : tensor<16x8xi32>
}

func.func @sequential_pad_large_pad(%arg0: tensor<4x8xi32>, %arg1: tensor<i32>) -> tensor<16x8xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [12, 0], high = [0, 0], interior = [0, 0] : (tensor<4x8xi32>, tensor<i32>) -> tensor<16x8xi32>
  return %0 : tensor<16x8xi32>
}

// -----
// stablehlo_pad_large_pad_within_one_hop.mlir
sdy.mesh @mesh_a2_b2 = <["a"=2, "b"=2]>

func.func @parallel_pad_large_pad(
  %arg0: tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh_a2_b2, [{"a"}, {}]>})
  -> (tensor<16x8xi32> {sdy.sharding = #sdy.sharding<@mesh_a2_b2, [{}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [12, 0], high = [0, 0], interior = [0, 0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh_a2_b2, [{"a"}, {}]>]>} : (tensor<4x8xi32>, tensor<i32>) -> tensor<16x8xi32>
  %1 = sdy.reshard %0 <@mesh_a2_b2, [{}, {}]> : tensor<16x8xi32>
  return %1 : tensor<16x8xi32>
}

func.func @sequential_pad_large_pad(%arg0: tensor<4x8xi32>, %arg1: tensor<i32>) -> tensor<16x8xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [12, 0], high = [0, 0], interior = [0, 0] : (tensor<4x8xi32>, tensor<i32>) -> tensor<16x8xi32>
  return %0 : tensor<16x8xi32>
}

// -----
// stablehlo_pad_left_shift.mlir
sdy.mesh @mesh = <["x"=2]>

func.func @parallel_pad_left_shift(
  %arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
  -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [-2], high = [6], interior = [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xi32>
  return %1 : tensor<8xi32>
}

func.func @sequential_pad_left_shift(%arg0: tensor<4xi32>, %arg1: tensor<i32>) -> tensor<8xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [-2], high = [6], interior = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----
// stablehlo_pad_multidim_mixed_shifts.mlir
sdy.mesh @mesh = <["x"=2]>

func.func @parallel_pad_multidim_mixed_shifts(
  %arg0: tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
  -> (tensor<8x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [-2, 1], high = [6, 1], interior = [0, 0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x2xi32>, tensor<i32>) -> tensor<8x4xi32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x4xi32>
  return %1 : tensor<8x4xi32>
}

func.func @sequential_pad_multidim_mixed_shifts(%arg0: tensor<4x2xi32>, %arg1: tensor<i32>) -> tensor<8x4xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [-2, 1], high = [6, 1], interior = [0, 0] : (tensor<4x2xi32>, tensor<i32>) -> tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}

// -----
// stablehlo_pad_multidim_with_hops.mlir
sdy.mesh @mesh = <["a"=2, "b"=2]>

func.func @parallel_pad_multidim_mixed_shifts(
  %arg0: tensor<4x4x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {}]>})
  -> (tensor<7x6x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [-1, 2, 1], high = [4, 0, 1], interior = [0, 0, 0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}, {}]>]>} : (tensor<4x4x2xi32>, tensor<i32>) -> tensor<7x6x4xi32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}, {}]> : tensor<7x6x4xi32>
  return %1 : tensor<7x6x4xi32>
}

func.func @sequential_pad_multidim_mixed_shifts(%arg0: tensor<4x4x2xi32>, %arg1: tensor<i32>) -> tensor<7x6x4xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [-1, 2, 1], high = [4, 0, 1], interior = [0, 0, 0] : (tensor<4x4x2xi32>, tensor<i32>) -> tensor<7x6x4xi32>
  return %0 : tensor<7x6x4xi32>
}

// -----
// stablehlo_pad_multiple_hops_right_shift.mlir
sdy.mesh @mesh_a4 = <["a"=4, "b"=2]>

func.func @parallel_pad_multiple_hops_right_shift(
  %arg0: tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh_a4, [{"a"}, {"b"}]>})
  -> (tensor<13x8xi32> {sdy.sharding = #sdy.sharding<@mesh_a4, [{}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [9, 0], high = [0, 0], interior = [0, 0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh_a4, [{"a"}, {"b"}]>]>} : (tensor<4x8xi32>, tensor<i32>) -> tensor<13x8xi32>
  %1 = sdy.reshard %0 <@mesh_a4, [{}, {}]> : tensor<13x8xi32>
  return %1 : tensor<13x8xi32>
}

func.func @sequential_pad_multiple_hops_right_shift(%arg0: tensor<4x8xi32>, %arg1: tensor<i32>) -> tensor<13x8xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [9, 0], high = [0, 0], interior = [0, 0] : (tensor<4x8xi32>, tensor<i32>) -> tensor<13x8xi32>
  return %0 : tensor<13x8xi32>
}

// -----
// stablehlo_pad_multiple_right_hops.mlir
sdy.mesh @mesh_a4 = <["a"=4, "b"=2]>

func.func @parallel_pad_multiple_hops_left_shift(
  %arg0: tensor<8x8xi32> {sdy.sharding = #sdy.sharding<@mesh_a4, [{"a"}, {"b"}]>})
  -> (tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh_a4, [{}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [-4, 0], high = [0, 0], interior = [0, 0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh_a4, [{"a"}, {"b"}]>]>} : (tensor<8x8xi32>, tensor<i32>) -> tensor<4x8xi32>
  %1 = sdy.reshard %0 <@mesh_a4, [{}, {}]> : tensor<4x8xi32>
  return %1 : tensor<4x8xi32>
}

func.func @sequential_pad_multiple_hops_left_shift(%arg0: tensor<8x8xi32>, %arg1: tensor<i32>) -> tensor<4x8xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [-4, 0], high = [0, 0], interior = [0, 0] : (tensor<8x8xi32>, tensor<i32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// -----
// stablehlo_pad_non_sharded.mlir
sdy.mesh @mesh_2 = <["x"=2]>

// Padding on replicated Dim 1, sharded on Dim 0.
func.func @pad_uniform(
  %arg0: tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>})
  -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>}) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c0, low = [0, 1], high = [0, 1], interior = [0, 0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}, {}]>]>} : (tensor<4x2xi32>, tensor<i32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// -----
// stablehlo_pad_replica_id.mlir
sdy.mesh @mesh_a2 = <["a"=2]>

func.func @parallel_pad_replica_id(
  %arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_a2, [{"a"}]>})
  -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh_a2, [{}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [3], high = [1], interior = [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh_a2, [{"a"}]>]>} : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  %1 = sdy.reshard %0 <@mesh_a2, [{}]> : tensor<8xi32>
  return %1 : tensor<8xi32>
}

func.func @sequential_pad_replica_id(%arg0: tensor<4xi32>, %arg1: tensor<i32>) -> tensor<8xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [3], high = [1], interior = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----
// stablehlo_pad_replicated_dual_slice_pad.mlir
sdy.mesh @mesh = <["a"=2, "b"=2]>

func.func @parallel_pad_replicated_dual_slice_pad(
  %arg0: tensor<8x8x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {}]>})
  -> (tensor<11x8x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [3, 0, -1], high = [0, 0, 2], interior = [0, 0, 0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}, {}]>]>} : (tensor<8x8x3xi32>, tensor<i32>) -> tensor<11x8x4xi32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}, {}]> : tensor<11x8x4xi32>
  return %1 : tensor<11x8x4xi32>
}

func.func @sequential_pad_replicated_dual_slice_pad(%arg0: tensor<8x8x3xi32>, %arg1: tensor<i32>) -> tensor<11x8x4xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [3, 0, -1], high = [0, 0, 2], interior = [0, 0, 0] : (tensor<8x8x3xi32>, tensor<i32>) -> tensor<11x8x4xi32>
  return %0 : tensor<11x8x4xi32>
}

// -----
// stablehlo_pad_replicated_negative_high_padding.mlir
sdy.mesh @mesh = <["x"=2]>

func.func @parallel_pad_replicated_negative_high_padding(
  %arg0: tensor<8x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
  -> (tensor<6x9xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [0, 0], high = [-2, 1], interior = [0, 0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x8xi32>, tensor<i32>) -> tensor<6x9xi32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<6x9xi32>
  return %1 : tensor<6x9xi32>
}

func.func @sequential_pad_replicated_negative_high_padding(%arg0: tensor<8x8xi32>, %arg1: tensor<i32>) -> tensor<6x9xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [0, 0], high = [-2, 1], interior = [0, 0] : (tensor<8x8xi32>, tensor<i32>) -> tensor<6x9xi32>
  return %0 : tensor<6x9xi32>
}

// -----
// stablehlo_pad_replicated_negative_low_padding.mlir
sdy.mesh @mesh = <["x"=2]>

func.func @parallel_pad_replicated_negative_low_padding(
  %arg0: tensor<8x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
  -> (tensor<12x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [4, -1], high = [0, 0], interior = [0, 0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x3xi32>, tensor<i32>) -> tensor<12x2xi32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<12x2xi32>
  return %1 : tensor<12x2xi32>
}

func.func @sequential_pad_replicated_negative_low_padding(%arg0: tensor<8x3xi32>, %arg1: tensor<i32>) -> tensor<12x2xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [4, -1], high = [0, 0], interior = [0, 0] : (tensor<8x3xi32>, tensor<i32>) -> tensor<12x2xi32>
  return %0 : tensor<12x2xi32>
}

// -----
// stablehlo_pad_right_shift.mlir
sdy.mesh @mesh = <["x"=2]>

func.func @parallel_pad_right_shift(
  %arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
  -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [3], high = [1], interior = [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xi32>
  return %1 : tensor<8xi32>
}

func.func @sequential_pad_right_shift(%arg0: tensor<4xi32>, %arg1: tensor<i32>) -> tensor<8xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [3], high = [1], interior = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----
// stablehlo_pad_sharded_non_uniform.mlir
sdy.mesh @mesh_2 = <["x"=2]>

// Padding on sharded Dim 0, with pLow + pHigh > pInt, which is not uniform.
func.func @pad_sharded_non_uniform(
  %arg0: tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}]>})
  -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}]>}) {
  %c0 = stablehlo.constant dense<9> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c0, low = [2], high = [2], interior = [2]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}]>]>} : (tensor<2xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----
// stablehlo_pad_sharded_uniform.mlir
sdy.mesh @mesh_2 = <["x"=2]>

// Padding on sharded Dim 0, with pLow + pHigh = pInt, which is uniform.
func.func @pad_sharded_uniform(
  %arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}]>})
  -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}]>}) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c0, low = [1], high = [0], interior = [1]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}]>]>} : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----
// stablehlo_pad_single_left_hop.mlir
sdy.mesh @mesh_a2 = <["a"=2]>

func.func @parallel_pad_single_hop_right_shift(
  %arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh_a2, [{"a"}]>})
  -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh_a2, [{}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [3], high = [1], interior = [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh_a2, [{"a"}]>]>} : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  %1 = sdy.reshard %0 <@mesh_a2, [{}]> : tensor<8xi32>
  return %1 : tensor<8xi32>
}

func.func @sequential_pad_single_hop_right_shift(%arg0: tensor<4xi32>, %arg1: tensor<i32>) -> tensor<8xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [3], high = [1], interior = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----
// stablehlo_pad_single_right_hop.mlir
sdy.mesh @mesh_a4 = <["a"=4, "b"=2]>

func.func @parallel_pad_single_hop_left_shift(
  %arg0: tensor<16x8xi32> {sdy.sharding = #sdy.sharding<@mesh_a4, [{"a"}, {"b"}]>})
  -> (tensor<15x8xi32> {sdy.sharding = #sdy.sharding<@mesh_a4, [{}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [-1, 0], high = [0, 0], interior = [0, 0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh_a4, [{"a"}, {"b"}]>]>} : (tensor<16x8xi32>, tensor<i32>) -> tensor<15x8xi32>
  %1 = sdy.reshard %0 <@mesh_a4, [{}, {}]> : tensor<15x8xi32>
  return %1 : tensor<15x8xi32>
}

func.func @sequential_pad_single_hop_left_shift(%arg0: tensor<16x8xi32>, %arg1: tensor<i32>) -> tensor<15x8xi32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [-1, 0], high = [0, 0], interior = [0, 0] : (tensor<16x8xi32>, tensor<i32>) -> tensor<15x8xi32>
  return %0 : tensor<15x8xi32>
}

// -----
// stablehlo_reduce_scatter.mlir
sdy.mesh @mesh_4 = <["x"=4]>

// This function takes a 16x8 global replicated tensor (16x8 per device) and
// returns a 16x8 global tensor sharded by "x" on dim 0 (4x8 per device).
func.func @manual_reduce_scatter(
  %arg0: tensor<16x8xi32> {sdy.sharding = #sdy.sharding<@mesh_4, [{}, {}]>})
  -> (tensor<16x8xi32> {sdy.sharding = #sdy.sharding<@mesh_4, [{"x"}, {}]>}) {
  %0 = sdy.manual_computation(%arg0)
    in_shardings=[<@mesh_4, [{}, {}]>]
    out_shardings=[<@mesh_4, [{"x"}, {}]>]
    manual_axes={"x"} (%arg1: tensor<16x8xi32>) {
      %1 = "stablehlo.reduce_scatter"(%arg1) ({
        ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
          %2 = stablehlo.add %arg2, %arg3 : tensor<i32>
          stablehlo.return %2 : tensor<i32>
      }) {
        scatter_dimension = 0 : i64,
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
        use_global_device_ids
      } : (tensor<16x8xi32>) -> tensor<4x8xi32>
      sdy.return %1 : tensor<4x8xi32>
  } : (tensor<16x8xi32>) -> (tensor<16x8xi32>)
  return %0 : tensor<16x8xi32>
}

// -----
// stablehlo_reduce_window.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @parallel_reduce_window(%arg0: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>})
    -> (tensor<2x2xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>}) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%arg0, %cst) <{
    window_dimensions = array<i64: 1, 2>,
    window_strides = array<i64: 1, 2>
  }> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}, {}]>]>}
  : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----
// stablehlo_reshape_1d_to_2d_split.mlir
sdy.mesh @mesh_a_4 = <["b"=2, "c"=2]>

func.func @parallel_reshape_1d_to_2d_split(%arg0: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh_a_4, [{"b", "c"}]>}) -> (tensor<2x3xi32> {sdy.sharding = #sdy.sharding<@mesh_a_4, [{}, {}]>}) {
  %0 = stablehlo.slice %arg0 [0:6] {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_a_4, [{"b", "c"}]>]>} : (tensor<8xi32>) -> tensor<6xi32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_a_4, [{"b"}, {"c"}]>]>} : (tensor<6xi32>) -> tensor<2x3xi32>
  %2 = sdy.reshard %1 <@mesh_a_4, [{}, {}]> : tensor<2x3xi32>
  return %2 : tensor<2x3xi32>
}

func.func @sequential_reshape_1d_to_2d_split(%arg0: tensor<8xi32>) -> tensor<2x3xi32> {
  %0 = stablehlo.slice %arg0 [0:6] : (tensor<8xi32>) -> tensor<6xi32>
  %1 = stablehlo.reshape %0 : (tensor<6xi32>) -> tensor<2x3xi32>
  return %1 : tensor<2x3xi32>
}

// -----
// stablehlo_reshape_1d_to_2d_split_2groups.mlir
sdy.mesh @mesh_ab_16 = <["a"=4, "b"=4]>

func.func @parallel_reshape_1d_to_2d_split_2groups(%arg0: tensor<8x16xi32> {sdy.sharding = #sdy.sharding<@mesh_ab_16, [{"a"}, {"b"}]>}) -> (tensor<2x3x2x7xi32> {sdy.sharding = #sdy.sharding<@mesh_ab_16, [{}, {}, {}, {}]>}) {
  %0 = stablehlo.slice %arg0 [0:6, 0:14] {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_ab_16, [{"a"}, {"b"}]>]>} : (tensor<8x16xi32>) -> tensor<6x14xi32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_ab_16, [{"a":(1)2}, {"a":(2)2}, {"b":(1)2}, {"b":(2)2}]>]>} : (tensor<6x14xi32>) -> tensor<2x3x2x7xi32>
  %2 = sdy.reshard %1 <@mesh_ab_16, [{}, {}, {}, {}]> : tensor<2x3x2x7xi32>
  return %2 : tensor<2x3x2x7xi32>
}

func.func @sequential_reshape_1d_to_2d_split_2groups(%arg0: tensor<8x16xi32>) -> tensor<2x3x2x7xi32> {
  %0 = stablehlo.slice %arg0 [0:6, 0:14] : (tensor<8x16xi32>) -> tensor<6x14xi32>
  %1 = stablehlo.reshape %0 : (tensor<6x14xi32>) -> tensor<2x3x2x7xi32>
  return %1 : tensor<2x3x2x7xi32>
}

// -----
// stablehlo_reshape_1d_to_2d_split_custom_device_ids.mlir
sdy.mesh @mesh_custom = <["b"=2, "c"=2], device_ids=[3, 2, 1, 0]>

func.func @parallel_reshape_1d_to_2d_split_custom(%arg0: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh_custom, [{"b", "c"}]>}) -> (tensor<2x3xi32> {sdy.sharding = #sdy.sharding<@mesh_custom, [{}, {}]>}) {
  %0 = stablehlo.slice %arg0 [0:6] {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_custom, [{"b", "c"}]>]>} : (tensor<8xi32>) -> tensor<6xi32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_custom, [{"b"}, {"c"}]>]>} : (tensor<6xi32>) -> tensor<2x3xi32>
  %2 = sdy.reshard %1 <@mesh_custom, [{}, {}]> : tensor<2x3xi32>
  return %2 : tensor<2x3xi32>
}

func.func @sequential_reshape_1d_to_2d_split_custom(%arg0: tensor<8xi32>) -> tensor<2x3xi32> {
  %0 = stablehlo.slice %arg0 [0:6] : (tensor<8xi32>) -> tensor<6xi32>
  %1 = stablehlo.reshape %0 : (tensor<6xi32>) -> tensor<2x3xi32>
  return %1 : tensor<2x3xi32>
}

// -----
// stablehlo_reshape_1d_to_2d_split_gap_2.mlir
sdy.mesh @mesh_bc_6 = <["b"=2, "c"=3]>

func.func @parallel_reshape_1d_to_2d_split_gap_2(%arg0: tensor<18xi32> {sdy.sharding = #sdy.sharding<@mesh_bc_6, [{"b", "c"}]>}) -> (tensor<2x7xi32> {sdy.sharding = #sdy.sharding<@mesh_bc_6, [{}, {}]>}) {
  %0 = stablehlo.slice %arg0 [0:14] {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_bc_6, [{"b", "c"}]>]>} : (tensor<18xi32>) -> tensor<14xi32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_bc_6, [{"b"}, {"c"}]>]>} : (tensor<14xi32>) -> tensor<2x7xi32>
  %2 = sdy.reshard %1 <@mesh_bc_6, [{}, {}]> : tensor<2x7xi32>
  return %2 : tensor<2x7xi32>
}

func.func @sequential_reshape_1d_to_2d_split_gap_2(%arg0: tensor<18xi32>) -> tensor<2x7xi32> {
  %0 = stablehlo.slice %arg0 [0:14] : (tensor<18xi32>) -> tensor<14xi32>
  %1 = stablehlo.reshape %0 : (tensor<14xi32>) -> tensor<2x7xi32>
  return %1 : tensor<2x7xi32>
}

// -----
// stablehlo_reshape_1d_to_2d_split_passthrough_indivisible.mlir
sdy.mesh @mesh_xbc_8 = <["x"=2, "b"=2, "c"=2]>

func.func @parallel_reshape_1d_to_2d_split_passthrough_indivisible(%arg0: tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh_xbc_8, [{"x"}, {"b", "c"}]>}) -> (tensor<3x2x3xi32> {sdy.sharding = #sdy.sharding<@mesh_xbc_8, [{}, {}, {}]>}) {
  %0 = stablehlo.slice %arg0 [0:3, 0:6] {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_xbc_8, [{"x"}, {"b", "c"}]>]>} : (tensor<4x8xi32>) -> tensor<3x6xi32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_xbc_8, [{"x"}, {"b"}, {"c"}]>]>} : (tensor<3x6xi32>) -> tensor<3x2x3xi32>
  %2 = sdy.reshard %1 <@mesh_xbc_8, [{}, {}, {}]> : tensor<3x2x3xi32>
  return %2 : tensor<3x2x3xi32>
}

func.func @sequential_reshape_1d_to_2d_split_passthrough_indivisible(%arg0: tensor<4x8xi32>) -> tensor<3x2x3xi32> {
  %0 = stablehlo.slice %arg0 [0:3, 0:6] : (tensor<4x8xi32>) -> tensor<3x6xi32>
  %1 = stablehlo.reshape %0 : (tensor<3x6xi32>) -> tensor<3x2x3xi32>
  return %1 : tensor<3x2x3xi32>
}

// -----
// stablehlo_reshape_2d_split_unrelated_axis.mlir
sdy.mesh @mesh_a2_b2 = <["a"=2, "b"=2]>

func.func @parallel_reshape_2d_split_unrelated_axis(%arg0: tensor<6x4xi32> {sdy.sharding = #sdy.sharding<@mesh_a2_b2, [{"a"}, {"b"}]>}) -> (tensor<1x5x4xi32> {sdy.sharding = #sdy.sharding<@mesh_a2_b2, [{}, {}, {}]>}) {
  %0 = stablehlo.slice %arg0 [0:5, 0:4] {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_a2_b2, [{"a"}, {"b"}]>]>} : (tensor<6x4xi32>) -> tensor<5x4xi32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_a2_b2, [{"a"}, {}, {"b"}]>]>} : (tensor<5x4xi32>) -> tensor<1x5x4xi32>
  %2 = sdy.reshard %1 <@mesh_a2_b2, [{}, {}, {}]> : tensor<1x5x4xi32>
  return %2 : tensor<1x5x4xi32>
}

func.func @sequential_reshape_2d_split_unrelated_axis(%arg0: tensor<6x4xi32>) -> tensor<1x5x4xi32> {
  %0 = stablehlo.slice %arg0 [0:5, 0:4] : (tensor<6x4xi32>) -> tensor<5x4xi32>
  %1 = stablehlo.reshape %0 : (tensor<5x4xi32>) -> tensor<1x5x4xi32>
  return %1 : tensor<1x5x4xi32>
}

// -----
// stablehlo_reshape_axis_shift.mlir
sdy.mesh @mesh = <["a"=4]>

func.func @parallel_reshape_axis_shift(
  %arg0: tensor<24xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
  -> (tensor<3x6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.slice %arg0 [0:18] {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh, [{"a"}]>]>} : (tensor<24xi32>) -> tensor<18xi32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh, [{}, {"a"}]>]>} : (tensor<18xi32>) -> tensor<3x6xi32>
  %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<3x6xi32>
  return %2 : tensor<3x6xi32>
}

func.func @sequential_reshape_axis_shift(%arg0: tensor<24xi32>) -> tensor<3x6xi32> {
  %0 = stablehlo.slice %arg0 [0:18] : (tensor<24xi32>) -> tensor<18xi32>
  %1 = stablehlo.reshape %0 : (tensor<18xi32>) -> tensor<3x6xi32>
  return %1 : tensor<3x6xi32>
}

// -----
// stablehlo_reverse_multi_dim_divisible.mlir
sdy.mesh @mesh = <["a"=2, "b"=2]>

func.func @parallel_reverse_divisible(
  %arg0: tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>})
  -> (tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.slice %arg0 [0:4, 0:8]
    {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh, [{"a"}, {"b"}]>]>}
    : (tensor<4x8xi32>) -> tensor<4x8xi32>
  %1 = stablehlo.reverse %0, dims = [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>}
    : tensor<4x8xi32>
  %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<4x8xi32>
  return %2 : tensor<4x8xi32>
}

func.func @sequential_reverse_divisible(%arg0: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %0 = stablehlo.slice %arg0 [0:4, 0:8] : (tensor<4x8xi32>) -> tensor<4x8xi32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<4x8xi32>
  return %1 : tensor<4x8xi32>
}

// -----
// stablehlo_reverse_single_dim_indivisible.mlir
sdy.mesh @mesh_abc = <["a"=2, "b"=2, "c"=4]>

func.func @parallel_reverse(
  %arg0: tensor<4x6x8xi32> {sdy.sharding = #sdy.sharding<@mesh_abc, [{"b"}, {"a"}, {"c"}]>})
  -> tensor<4x6x5xi32> {
  %0 = stablehlo.slice %arg0 [0:4, 0:6, 0:5]
    {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh_abc, [{"b"}, {"a"}, {"c"}]>]>}
    : (tensor<4x6x8xi32>) -> tensor<4x6x5xi32>
  %1 = stablehlo.reverse %0, dims = [0, 2]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh_abc, [{"b"}, {"a"}, {"c"}]>]>}
    : tensor<4x6x5xi32>
  %2 = sdy.reshard %1 <@mesh_abc, [{}, {}, {}]> : tensor<4x6x5xi32>
  return %2 : tensor<4x6x5xi32>
}

func.func @sequential_reverse(%arg0: tensor<4x6x8xi32>) -> tensor<4x6x5xi32> {
  %0 = stablehlo.slice %arg0 [0:4, 0:6, 0:5]
    : (tensor<4x6x8xi32>) -> tensor<4x6x5xi32>
  %1 = stablehlo.reverse %0, dims = [0, 2]
    : tensor<4x6x5xi32>
  return %1 : tensor<4x6x5xi32>
}

// -----
// stablehlo_scatter_shard_implicit_dim.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @sequential_scatter(
  %arg0: tensor<4x2xf32>,
  %arg1: tensor<2x1xi64>,
  %arg2: tensor<2x2xf32>) -> tensor<4x2xf32> {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1],
      inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1
    >
  } : (tensor<4x2xf32>, tensor<2x1xi64>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// ([i, j], [k, v], [k, j]) -> ([i, j]) reduction={k}
//
func.func @parallel_scatter(
  %arg0: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{}, {}]>},
  %arg1: tensor<2x1xi64> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>},
  %arg2: tensor<2x2xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>})
  -> tensor<4x2xf32> {

  %pid = stablehlo.partition_id : tensor<ui32>

  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1],
      inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1
    >
  } : (tensor<4x2xf32>, tensor<2x1xi64>, tensor<2x2xf32>) -> tensor<4x2xf32>

  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh_2, [{}, {}]> : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// -----
// stablehlo_scatter_shard_indexed_inserted_dim.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @sequential_scatter(
  %arg0: tensor<4x2xf32>,
  %arg1: tensor<2x1xi64>,
  %arg2: tensor<2x2xf32>) -> tensor<4x2xf32> {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1],
      inserted_window_dims = [0], // Row dimension is collapsed/inserted
      scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1
    >
  } : (tensor<4x2xf32>, tensor<2x1xi64>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// ([b, w], [b, k, v], [b, k, w]) -> ([b, w]) reduction={k}
//
func.func @parallel_scatter(
  %arg0: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>},
  %arg1: tensor<2x1xi64>,
  %arg2: tensor<2x2xf32>)
  -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>}) {

  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1],
      inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1
    >,
    sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}, {}]>]>
  } : (tensor<4x2xf32>, tensor<2x1xi64>, tensor<2x2xf32>) -> tensor<4x2xf32>

  return %0 : tensor<4x2xf32>
}

// -----
// stablehlo_select_and_scatter.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @parallel_select_and_scatter(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>},
                                       %arg1: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>})
    -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>}) {
  %init = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %init) <{
    window_dimensions = array<i64: 1, 2>,
    window_strides = array<i64: 1, 2>,
    padding = dense<0> : tensor<2x2xi64>
  }> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %cmp = stablehlo.compare GE, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %cmp : tensor<i1>
  }, {
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %add = stablehlo.add %arg2, %arg3 : tensor<f32>
    stablehlo.return %add : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}, {}]>]>}
  : (tensor<4x4xf32>, tensor<4x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----
// stablehlo_slice.mlir
sdy.mesh @mesh_2 = <["x"=2]>

// Performs a slice op on a single device.
//
func.func @sequential_slice(%arg0: tensor<2x4xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.slice %arg0 [0:2, 0:2] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// Performs the same slice above, but on 2 devices in parallel.
//
// We will use sdy-opt to convert this to a device local program that
// stablehlo interpreter can execute.
//
func.func @parallel_slice(%arg0: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>})
  -> (tensor<2x2xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>}) {
  %0 = stablehlo.slice %arg0 [0:2, 0:2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}, {}]>]>}
    : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----
// stablehlo_slice_comm_free.mlir
sdy.mesh @mesh = <["x"=2]>

func.func @parallel_slice_comm_free(
  %arg0: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
  -> (tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.slice %arg0 [0:4, 0:2]
    {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh, [{"x"}, {}]>]>} : (tensor<4x4xi32>) -> tensor<4x2xi32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<4x2xi32>
  return %1 : tensor<4x2xi32>
}

func.func @sequential_slice_comm_free(%arg0: tensor<4x4xi32>) -> tensor<4x2xi32> {
  %0 = stablehlo.slice %arg0 [0:4, 0:2] : (tensor<4x4xi32>) -> tensor<4x2xi32>
  return %0 : tensor<4x2xi32>
}

// -----
// stablehlo_slice_indivisible.mlir
sdy.mesh @mesh_x4 = <["x"=4]>

// The slice result size (3) along the sharded dimension is not divisible by the
// mesh axis size (4). PadForDivisibility should pad the slice result to 4,
// and then trim it back to 3 after the reshard (which turns into all_gather).
func.func @parallel_slice_result_indivisible(
  %arg0: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh_x4, [{"x"}, {}]>})
  -> (tensor<3x2xf32> {sdy.sharding = #sdy.sharding<@mesh_x4, [{}, {}]>}) {
  %0 = stablehlo.slice %arg0 [0:3, 0:2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh_x4, [{"x"}, {}]>]>} : (tensor<4x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

func.func @sequential_slice_result_indivisible(%arg0: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.slice %arg0 [0:3, 0:2] : (tensor<4x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----
// stablehlo_slice_replicated.mlir
sdy.mesh @mesh = <["a"=2, "b"=2]>

func.func @parallel_slice_replicated(
  %arg0: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>})
  -> (tensor<3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.slice %arg0 [0:3]
    {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh, [{"b"}]>]>} : (tensor<8xi32>) -> tensor<3xi32>
  %1 = sdy.all_gather [{"b"}] %0 out_sharding=<@mesh, [{}]> : tensor<3xi32>
  return %1 : tensor<3xi32>
}

func.func @sequential_slice_replicated(%arg0: tensor<8xi32>) -> tensor<3xi32> {
  %0 = stablehlo.slice %arg0 [0:3] : (tensor<8xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// -----
// stablehlo_slice_replicated_mesh_2.mlir
sdy.mesh @mesh = <["x"=2]>

func.func @parallel_slice_replicated(
  %arg0: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
  -> (tensor<3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.slice %arg0 [0:3]
    {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh, [{"x"}]>]>} : (tensor<8xi32>) -> tensor<3xi32>
  %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<3xi32>
  return %1 : tensor<3xi32>
}

func.func @sequential_slice_replicated(%arg0: tensor<8xi32>) -> tensor<3xi32> {
  %0 = stablehlo.slice %arg0 [0:3] : (tensor<8xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// -----
// stablehlo_slice_with_communication.mlir
sdy.mesh @mesh = <["x"=2]>

func.func @parallel_slice_with_communication(
  %arg0: tensor<8x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
  -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.slice %arg0 [1:5, 0:4]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4xi32>) -> tensor<4x4xi32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<4x4xi32>
  return %1 : tensor<4x4xi32>
}

func.func @sequential_slice_with_communication(%arg0: tensor<8x4xi32>) -> tensor<4x4xi32> {
  %0 = stablehlo.slice %arg0 [1:5, 0:4] : (tensor<8x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// -----
// stablehlo_sort.mlir
sdy.mesh @mesh_2 = <["x"=2]>

func.func @parallel_sort(
  %arg0: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>})
  -> (tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}, {}]>}) {
  %0 = "stablehlo.sort"(%arg0) ({
  ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
    %p = "stablehlo.compare"(%arg1, %arg2) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }) {dimension = 1 : i64, is_stable = true,
    sdy.sharding = #sdy.sharding_per_value<[<@mesh_2, [{"x"}, {}]>]>
  } : (tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}
