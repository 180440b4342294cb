module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xui32>) -> (tensor<3xui32> {jax.result_info = "result[0]"}, tensor<3xui32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %1 = stablehlo.reshape %0 : (tensor<1xui32>) -> tensor<ui32>
    %2 = stablehlo.iota dim = 0 : tensor<3xui32>
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %4 = stablehlo.add %2, %3 : tensor<3xui32>
    %5 = stablehlo.iota dim = 0 : tensor<3xui32>
    %c_0 = stablehlo.constant dense<1> : tensor<ui32>
    %6 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %7 = stablehlo.add %5, %6 : tensor<3xui32>
    %8:2 = call @philox2x32(%1, %4, %7) : (tensor<ui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>)
    return %8#0, %8#1 : tensor<3xui32>, tensor<3xui32>
  }
  func.func private @philox2x32(%arg0: tensor<ui32>, %arg1: tensor<3xui32>, %arg2: tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>) {
    %c = stablehlo.constant dense<3528905107> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %1 = stablehlo.multiply %0, %arg1 : tensor<3xui32>
    %c_0 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %3 = chlo.mulhi %2, %arg1 : tensor<3xui32>, tensor<3xui32> -> tensor<3xui32>
    %4 = stablehlo.xor %3, %arg2 : tensor<3xui32>
    %5 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %6 = stablehlo.xor %4, %5 : tensor<3xui32>
    %c_1 = stablehlo.constant dense<2654435769> : tensor<ui32>
    %7 = stablehlo.add %arg0, %c_1 : tensor<ui32>
    %c_2 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %8 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %9 = stablehlo.multiply %8, %6 : tensor<3xui32>
    %c_3 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %10 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %11 = chlo.mulhi %10, %6 : tensor<3xui32>, tensor<3xui32> -> tensor<3xui32>
    %12 = stablehlo.xor %11, %1 : tensor<3xui32>
    %13 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %14 = stablehlo.xor %12, %13 : tensor<3xui32>
    %c_4 = stablehlo.constant dense<2654435769> : tensor<ui32>
    %15 = stablehlo.add %7, %c_4 : tensor<ui32>
    %c_5 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %16 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %17 = stablehlo.multiply %16, %14 : tensor<3xui32>
    %c_6 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %18 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %19 = chlo.mulhi %18, %14 : tensor<3xui32>, tensor<3xui32> -> tensor<3xui32>
    %20 = stablehlo.xor %19, %9 : tensor<3xui32>
    %21 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %22 = stablehlo.xor %20, %21 : tensor<3xui32>
    %c_7 = stablehlo.constant dense<2654435769> : tensor<ui32>
    %23 = stablehlo.add %15, %c_7 : tensor<ui32>
    %c_8 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %24 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %25 = stablehlo.multiply %24, %22 : tensor<3xui32>
    %c_9 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %26 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %27 = chlo.mulhi %26, %22 : tensor<3xui32>, tensor<3xui32> -> tensor<3xui32>
    %28 = stablehlo.xor %27, %17 : tensor<3xui32>
    %29 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %30 = stablehlo.xor %28, %29 : tensor<3xui32>
    %c_10 = stablehlo.constant dense<2654435769> : tensor<ui32>
    %31 = stablehlo.add %23, %c_10 : tensor<ui32>
    %c_11 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %32 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %33 = stablehlo.multiply %32, %30 : tensor<3xui32>
    %c_12 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %34 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %35 = chlo.mulhi %34, %30 : tensor<3xui32>, tensor<3xui32> -> tensor<3xui32>
    %36 = stablehlo.xor %35, %25 : tensor<3xui32>
    %37 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %38 = stablehlo.xor %36, %37 : tensor<3xui32>
    %c_13 = stablehlo.constant dense<2654435769> : tensor<ui32>
    %39 = stablehlo.add %31, %c_13 : tensor<ui32>
    %c_14 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %40 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %41 = stablehlo.multiply %40, %38 : tensor<3xui32>
    %c_15 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %42 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %43 = chlo.mulhi %42, %38 : tensor<3xui32>, tensor<3xui32> -> tensor<3xui32>
    %44 = stablehlo.xor %43, %33 : tensor<3xui32>
    %45 = stablehlo.broadcast_in_dim %39, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %46 = stablehlo.xor %44, %45 : tensor<3xui32>
    %c_16 = stablehlo.constant dense<2654435769> : tensor<ui32>
    %47 = stablehlo.add %39, %c_16 : tensor<ui32>
    %c_17 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %48 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %49 = stablehlo.multiply %48, %46 : tensor<3xui32>
    %c_18 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %50 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %51 = chlo.mulhi %50, %46 : tensor<3xui32>, tensor<3xui32> -> tensor<3xui32>
    %52 = stablehlo.xor %51, %41 : tensor<3xui32>
    %53 = stablehlo.broadcast_in_dim %47, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %54 = stablehlo.xor %52, %53 : tensor<3xui32>
    %c_19 = stablehlo.constant dense<2654435769> : tensor<ui32>
    %55 = stablehlo.add %47, %c_19 : tensor<ui32>
    %c_20 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %56 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %57 = stablehlo.multiply %56, %54 : tensor<3xui32>
    %c_21 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %58 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %59 = chlo.mulhi %58, %54 : tensor<3xui32>, tensor<3xui32> -> tensor<3xui32>
    %60 = stablehlo.xor %59, %49 : tensor<3xui32>
    %61 = stablehlo.broadcast_in_dim %55, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %62 = stablehlo.xor %60, %61 : tensor<3xui32>
    %c_22 = stablehlo.constant dense<2654435769> : tensor<ui32>
    %63 = stablehlo.add %55, %c_22 : tensor<ui32>
    %c_23 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %64 = stablehlo.broadcast_in_dim %c_23, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %65 = stablehlo.multiply %64, %62 : tensor<3xui32>
    %c_24 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %66 = stablehlo.broadcast_in_dim %c_24, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %67 = chlo.mulhi %66, %62 : tensor<3xui32>, tensor<3xui32> -> tensor<3xui32>
    %68 = stablehlo.xor %67, %57 : tensor<3xui32>
    %69 = stablehlo.broadcast_in_dim %63, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %70 = stablehlo.xor %68, %69 : tensor<3xui32>
    %c_25 = stablehlo.constant dense<2654435769> : tensor<ui32>
    %71 = stablehlo.add %63, %c_25 : tensor<ui32>
    %c_26 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %72 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %73 = stablehlo.multiply %72, %70 : tensor<3xui32>
    %c_27 = stablehlo.constant dense<3528905107> : tensor<ui32>
    %74 = stablehlo.broadcast_in_dim %c_27, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %75 = chlo.mulhi %74, %70 : tensor<3xui32>, tensor<3xui32> -> tensor<3xui32>
    %76 = stablehlo.xor %75, %65 : tensor<3xui32>
    %77 = stablehlo.broadcast_in_dim %71, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %78 = stablehlo.xor %76, %77 : tensor<3xui32>
    return %78, %73 : tensor<3xui32>, tensor<3xui32>
  }
}
