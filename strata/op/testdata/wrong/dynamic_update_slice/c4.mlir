// dynamic_update_slice/c4.mlir:3:8: dynamic_update_slice: expected 2 start indices, got 1 (C4)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<2x4xf32>, %c: tensor<i32>) {
  %0 = "stablehlo.dynamic_update_slice"(%a, %b, %c) : (tensor<4x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<4x4xf32>
  return
}
