// dynamic_update_slice/c6.mlir:3:8: dynamic_update_slice: update tensor<5x4xf32> does not fit tensor<4x4xf32> in dimension 0 (C6)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<5x4xf32>, %c: tensor<i32>, %d: tensor<i32>) {
  %0 = "stablehlo.dynamic_update_slice"(%a, %b, %c, %d) : (tensor<4x4xf32>, tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  return
}
