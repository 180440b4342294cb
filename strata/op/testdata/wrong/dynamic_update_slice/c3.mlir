// dynamic_update_slice/c3.mlir:3:8: dynamic_update_slice: update must have the rank of the array, got tensor<2xf32> and tensor<4x4xf32> (C3)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<2xf32>, %c: tensor<i32>, %d: tensor<i32>) {
  %0 = "stablehlo.dynamic_update_slice"(%a, %b, %c, %d) : (tensor<4x4xf32>, tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  return
}
