module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x4x16xf32> {mhlo.sharding = "{devices=[2,4,1]<=[8]}"}, %arg1: tensor<16x48xf32> {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}, %arg2: tensor<16x16xf32> {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}) -> (tensor<8x4x16xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16xf32>, tensor<16x48xf32>) -> tensor<8x4x48xf32>
    %1 = stablehlo.reshape %0 : (tensor<8x4x48xf32>) -> tensor<8x4x3x4x4xf32>
    %2 = stablehlo.slice %1 [0:8, 0:4, 0:1, 0:4, 0:4] : (tensor<8x4x3x4x4xf32>) -> tensor<8x4x1x4x4xf32>
    %3 = stablehlo.slice %1 [0:8, 0:4, 1:2, 0:4, 0:4] : (tensor<8x4x3x4x4xf32>) -> tensor<8x4x1x4x4xf32>
    %4 = stablehlo.slice %1 [0:8, 0:4, 2:3, 0:4, 0:4] : (tensor<8x4x3x4x4xf32>) -> tensor<8x4x1x4x4xf32>
    %5 = stablehlo.reshape %2 : (tensor<8x4x1x4x4xf32>) -> tensor<8x4x4x4xf32>
    %6 = stablehlo.custom_call @Sharding(%5) {backend_config = "", mhlo.sharding = "{devices=[2,1,4,1]<=[8]}"} : (tensor<8x4x4x4xf32>) -> tensor<8x4x4x4xf32>
    %7 = stablehlo.reshape %3 : (tensor<8x4x1x4x4xf32>) -> tensor<8x4x4x4xf32>
    %8 = stablehlo.custom_call @Sharding(%7) {backend_config = "", mhlo.sharding = "{devices=[2,1,4,1]<=[8]}"} : (tensor<8x4x4x4xf32>) -> tensor<8x4x4x4xf32>
    %9 = stablehlo.reshape %4 : (tensor<8x4x1x4x4xf32>) -> tensor<8x4x4x4xf32>
    %10 = stablehlo.custom_call @Sharding(%9) {backend_config = "", mhlo.sharding = "{devices=[2,1,4,1]<=[8]}"} : (tensor<8x4x4x4xf32>) -> tensor<8x4x4x4xf32>
    %11 = stablehlo.dot_general %6, %8, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x4x4xf32>, tensor<8x4x4x4xf32>) -> tensor<8x4x4x4xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x4x4xf32>
    %13 = stablehlo.divide %11, %12 : tensor<8x4x4x4xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %14 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<4x4xi1>
    %15 = call @tril(%14) : (tensor<4x4xi1>) -> tensor<4x4xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %16 = call @_where(%15, %13, %cst_0) : (tensor<4x4xi1>, tensor<8x4x4x4xf32>, tensor<f32>) -> tensor<8x4x4x4xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x4x4xf32>, tensor<f32>) -> tensor<8x4x4xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x4x4xf32>
    %19 = stablehlo.maximum %18, %17 : tensor<8x4x4xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<8x4x4xf32>) -> tensor<8x4x4x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<8x4x4x1xf32>) -> tensor<8x4x4x4xf32>
    %22 = stablehlo.subtract %16, %21 : tensor<8x4x4x4xf32>
    %23 = stablehlo.exponential %22 : tensor<8x4x4x4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<8x4x4x4xf32>, tensor<f32>) -> tensor<8x4x4xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<8x4x4xf32>) -> tensor<8x4x4x1xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<8x4x4x1xf32>) -> tensor<8x4x4x4xf32>
    %27 = stablehlo.divide %23, %26 : tensor<8x4x4x4xf32>
    %28 = stablehlo.dot_general %10, %27, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x4x4xf32>, tensor<8x4x4x4xf32>) -> tensor<8x4x4x4xf32>
    %29 = stablehlo.transpose %28, dims = [0, 3, 1, 2] : (tensor<8x4x4x4xf32>) -> tensor<8x4x4x4xf32>
    %30 = stablehlo.reshape %29 : (tensor<8x4x4x4xf32>) -> tensor<8x4x16xf32>
    %31 = stablehlo.custom_call @Sharding(%30) {backend_config = "", mhlo.sharding = "{devices=[2,1,4]<=[8]}"} : (tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %32 = stablehlo.dot_general %31, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16xf32>, tensor<16x16xf32>) -> tensor<8x4x16xf32>
    return %32 : tensor<8x4x16xf32>
  }
  func.func private @tril(%arg0: tensor<4x4xi1>) -> tensor<4x4xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %2 = stablehlo.add %0, %1 : tensor<4x4xi32>
    %3 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<4x4xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<4x4xi1>, tensor<4x4xi1>
    return %6 : tensor<4x4xi1>
  }
  func.func private @_where(%arg0: tensor<4x4xi1>, %arg1: tensor<8x4x4x4xf32>, %arg2: tensor<f32>) -> tensor<8x4x4x4xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<4x4xi1>) -> tensor<8x4x4x4xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4x4x4xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x4x4x4xi1>, tensor<8x4x4x4xf32>
    return %3 : tensor<8x4x4x4xf32>
  }
}
