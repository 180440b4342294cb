module @jit_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x8xf32>, %arg1: tensor<2x128x8x8xf32>, %arg2: tensor<2x128x8x8xf32>, %arg3: tensor<2x128x8x8xf32>) -> (tensor<2x128x8x8xf32> {jax.result_info = "result[0]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[1]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[2]"}, tensor<2x128x8x8xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<"0x000000000100000002000000030000000400000005000000060000000700000008000000090000000A0000000B0000000C0000000D0000000E0000000F000000100000001100000012000000130000001400000015000000160000001700000018000000190000001A0000001B0000001C0000001D0000001E0000001F000000200000002100000022000000230000002400000025000000260000002700000028000000290000002A0000002B0000002C0000002D0000002E0000002F000000300000003100000032000000330000003400000035000000360000003700000038000000390000003A0000003B0000003C0000003D0000003E0000003F000000400000004100000042000000430000004400000045000000460000004700000048000000490000004A0000004B0000004C0000004D0000004E0000004F000000500000005100000052000000530000005400000055000000560000005700000058000000590000005A0000005B0000005C0000005D0000005E0000005F000000600000006100000062000000630000006400000065000000660000006700000068000000690000006A0000006B0000006C0000006D0000006E0000006F000000700000007100000072000000730000007400000075000000760000007700000078000000790000007A0000007B0000007C0000007D0000007E0000007F000000"> : tensor<128xi32>
    %c_0 = stablehlo.constant dense<"0x000000000100000002000000030000000400000005000000060000000700000008000000090000000A0000000B0000000C0000000D0000000E0000000F000000100000001100000012000000130000001400000015000000160000001700000018000000190000001A0000001B0000001C0000001D0000001E0000001F000000200000002100000022000000230000002400000025000000260000002700000028000000290000002A0000002B0000002C0000002D0000002E0000002F000000300000003100000032000000330000003400000035000000360000003700000038000000390000003A0000003B0000003C0000003D0000003E0000003F000000400000004100000042000000430000004400000045000000460000004700000048000000490000004A0000004B0000004C0000004D0000004E0000004F000000500000005100000052000000530000005400000055000000560000005700000058000000590000005A0000005B0000005C0000005D0000005E0000005F000000600000006100000062000000630000006400000065000000660000006700000068000000690000006A0000006B0000006C0000006D0000006E0000006F000000700000007100000072000000730000007400000075000000760000007700000078000000790000007A0000007B0000007C0000007D0000007E0000007F000000"> : tensor<128xi32>
    %0 = stablehlo.reshape %arg1 : (tensor<2x128x8x8xf32>) -> tensor<2x128x8x1x8xf32>
    %1 = stablehlo.dot_general %0, %arg2, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x1x8xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x1x128xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x1x128xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<2x8x128x1x128xf32>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %4 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<2x8x128x128xi1>
    %c_2 = stablehlo.constant dense<true> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %6 = call @tril(%5) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<1x1x128x128xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<1x1x128x128xi1>) -> tensor<2x8x128x128xi1>
    %9 = stablehlo.and %4, %8 : tensor<2x8x128x128xi1>
    %10 = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %11 = stablehlo.broadcast_in_dim %c_0, dims = [1] : (tensor<128xi32>) -> tensor<1x128xi32>
    %c_3 = stablehlo.constant dense<16> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<1x128xi32>
    %13 = stablehlo.add %11, %12 : tensor<1x128xi32>
    %14 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<128x1xi32>) -> tensor<128x128xi32>
    %15 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1x128xi32>) -> tensor<128x128xi32>
    %16 = stablehlo.compare LE, %14, %15, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %17 = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %18 = stablehlo.broadcast_in_dim %c_0, dims = [1] : (tensor<128xi32>) -> tensor<1x128xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %19 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<1x128xi32>
    %20 = stablehlo.subtract %18, %19 : tensor<1x128xi32>
    %21 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<128x1xi32>) -> tensor<128x128xi32>
    %22 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<1x128xi32>) -> tensor<128x128xi32>
    %23 = stablehlo.compare GE, %21, %22, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %24 = stablehlo.and %23, %16 : tensor<128x128xi1>
    %25 = stablehlo.broadcast_in_dim %24, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<1x1x128x128xi1>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<1x1x128x128xi1>) -> tensor<2x8x128x128xi1>
    %27 = stablehlo.and %9, %26 : tensor<2x8x128x128xi1>
    %cst_5 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %28:2 = call @_where(%27, %3, %cst_5) : (tensor<2x8x128x128xi1>, tensor<2x8x128x1x128xf32>, tensor<f32>) -> (tensor<1x2x8x128x128xf32>, tensor<1x2x8x128x128xi1>)
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %29 = stablehlo.reduce(%28#0 init: %cst_6) applies stablehlo.maximum across dimensions = [4] : (tensor<1x2x8x128x128xf32>, tensor<f32>) -> tensor<1x2x8x128xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x2x8x128xf32>
    %31 = stablehlo.maximum %30, %29 : tensor<1x2x8x128xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x2x8x128xf32>) -> tensor<1x2x8x128x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3, 4] : (tensor<1x2x8x128x1xf32>) -> tensor<1x2x8x128x128xf32>
    %34 = stablehlo.subtract %28#0, %33 : tensor<1x2x8x128x128xf32>
    %35 = stablehlo.exponential %34 : tensor<1x2x8x128x128xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_8) applies stablehlo.add across dimensions = [4] : (tensor<1x2x8x128x128xf32>, tensor<f32>) -> tensor<1x2x8x128xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2, 3] : (tensor<1x2x8x128xf32>) -> tensor<1x2x8x128x1xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3, 4] : (tensor<1x2x8x128x1xf32>) -> tensor<1x2x8x128x128xf32>
    %39 = stablehlo.divide %35, %38 : tensor<1x2x8x128x128xf32>
    %40 = stablehlo.multiply %37, %37 : tensor<1x2x8x128x1xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1x2x8x128x1xf32>
    %42 = stablehlo.divide %41, %40 : tensor<1x2x8x128x1xf32>
    %43 = stablehlo.dot_general %arg3, %39, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x8xf32>, tensor<1x2x8x128x128xf32>) -> tensor<2x8x8x1x128xf32>
    %44 = stablehlo.transpose %43, dims = [3, 0, 4, 1, 2] : (tensor<2x8x8x1x128xf32>) -> tensor<1x2x128x8x8xf32>
    %45 = stablehlo.transpose %44, dims = [1, 2, 3, 0, 4] : (tensor<1x2x128x8x8xf32>) -> tensor<2x128x8x1x8xf32>
    %46 = stablehlo.reshape %45 : (tensor<2x128x8x1x8xf32>) -> tensor<2x128x8x8xf32>
    %47 = stablehlo.reshape %arg0 : (tensor<2x128x8x8xf32>) -> tensor<2x128x8x1x8xf32>
    %48 = stablehlo.transpose %47, dims = [3, 0, 1, 2, 4] : (tensor<2x128x8x1x8xf32>) -> tensor<1x2x128x8x8xf32>
    %49 = stablehlo.transpose %48, dims = [1, 3, 4, 0, 2] : (tensor<1x2x128x8x8xf32>) -> tensor<2x8x8x1x128xf32>
    %50 = stablehlo.dot_general %49, %arg3, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x1x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x1x128x128xf32>
    %51 = stablehlo.transpose %50, dims = [2, 0, 1, 3, 4] : (tensor<2x8x1x128x128xf32>) -> tensor<1x2x8x128x128xf32>
    %52 = stablehlo.dot_general %49, %39, batching_dims = [0, 1] x [1, 2], contracting_dims = [3, 4] x [0, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8x1x128xf32>, tensor<1x2x8x128x128xf32>) -> tensor<2x8x8x128xf32>
    %53 = stablehlo.transpose %52, dims = [0, 3, 1, 2] : (tensor<2x8x8x128xf32>) -> tensor<2x128x8x8xf32>
    %54 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3, 4] : (tensor<1x2x8x128x1xf32>) -> tensor<1x2x8x128x128xf32>
    %55 = stablehlo.multiply %51, %54 : tensor<1x2x8x128x128xf32>
    %56 = stablehlo.multiply %55, %35 : tensor<1x2x8x128x128xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.reduce(%56 init: %cst_10) applies stablehlo.add across dimensions = [4] : (tensor<1x2x8x128x128xf32>, tensor<f32>) -> tensor<1x2x8x128xf32>
    %58 = stablehlo.reshape %57 : (tensor<1x2x8x128xf32>) -> tensor<1x2x8x128x1xf32>
    %59 = stablehlo.negate %58 : tensor<1x2x8x128x1xf32>
    %60 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3, 4] : (tensor<1x2x8x128x1xf32>) -> tensor<1x2x8x128x128xf32>
    %61 = stablehlo.divide %51, %60 : tensor<1x2x8x128x128xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.reduce(%59 init: %cst_11) applies stablehlo.add across dimensions = [0, 4] : (tensor<1x2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [1, 2, 3] : (tensor<2x8x128xf32>) -> tensor<1x2x8x128xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2, 3] : (tensor<1x2x8x128xf32>) -> tensor<1x2x8x128x128xf32>
    %65 = stablehlo.add %61, %64 : tensor<1x2x8x128x128xf32>
    %66 = stablehlo.multiply %65, %35 : tensor<1x2x8x128x128xf32>
    %67 = call @_where_0(%28#1, %66) : (tensor<1x2x8x128x128xi1>, tensor<1x2x8x128x128xf32>) -> tensor<2x8x128x1x128xf32>
    %cst_12 = stablehlo.constant dense<0.353553385> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x8x128x1x128xf32>
    %69 = stablehlo.multiply %67, %68 : tensor<2x8x128x1x128xf32>
    %70 = stablehlo.dot_general %69, %0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2, 3] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x1x128xf32>, tensor<2x128x8x1x8xf32>) -> tensor<2x8x128x8xf32>
    %71 = stablehlo.transpose %70, dims = [0, 2, 1, 3] : (tensor<2x8x128x8xf32>) -> tensor<2x128x8x8xf32>
    %72 = stablehlo.dot_general %69, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x1x128xf32>, tensor<2x128x8x8xf32>) -> tensor<2x8x128x1x8xf32>
    %73 = stablehlo.transpose %72, dims = [0, 2, 1, 3, 4] : (tensor<2x8x128x1x8xf32>) -> tensor<2x128x8x1x8xf32>
    %74 = stablehlo.reshape %73 : (tensor<2x128x8x1x8xf32>) -> tensor<2x128x8x8xf32>
    return %46, %74, %71, %53 : tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>, tensor<2x128x8x8xf32>
  }
  func.func private @tril(%arg0: tensor<128x128xi1>) -> tensor<128x128xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<128x128xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %2 = stablehlo.add %0, %1 : tensor<128x128xi32>
    %3 = stablehlo.iota dim = 1 : tensor<128x128xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<128x128xi1>, tensor<128x128xi1>
    return %6 : tensor<128x128xi1>
  }
  func.func private @_where(%arg0: tensor<2x8x128x128xi1>, %arg1: tensor<2x8x128x1x128xf32>, %arg2: tensor<f32>) -> (tensor<1x2x8x128x128xf32>, tensor<1x2x8x128x128xi1>) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3, 4] : (tensor<2x8x128x128xi1>) -> tensor<1x2x8x128x128xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<2x8x128x128xf32>) -> tensor<1x2x8x128x128xf32>
    %3 = stablehlo.transpose %arg1, dims = [3, 0, 1, 2, 4] : (tensor<2x8x128x1x128xf32>) -> tensor<1x2x8x128x128xf32>
    %4 = stablehlo.select %1, %3, %2 : tensor<1x2x8x128x128xi1>, tensor<1x2x8x128x128xf32>
    return %4, %1 : tensor<1x2x8x128x128xf32>, tensor<1x2x8x128x128xi1>
  }
  func.func private @_where_0(%arg0: tensor<1x2x8x128x128xi1>, %arg1: tensor<1x2x8x128x128xf32>) -> tensor<2x8x128x1x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x8x128x128xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<1x2x8x128x128xi1>, tensor<1x2x8x128x128xf32>
    %2 = stablehlo.transpose %1, dims = [1, 2, 3, 0, 4] : (tensor<1x2x8x128x128xf32>) -> tensor<2x8x128x1x128xf32>
    return %2 : tensor<2x8x128x1x128xf32>
  }
}
