// dynamic_update_slice/c2.mlir:3:8: dynamic_update_slice: update must have the dtype of the array, got tensor<2x4xf64> and tensor<4x4xf32> (C2)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<2x4xf64>, %c: tensor<i32>, %d: tensor<i32>) {
  %0 = "stablehlo.dynamic_update_slice"(%a, %b, %c, %d) : (tensor<4x4xf32>, tensor<2x4xf64>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  return
}
