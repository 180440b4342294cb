// dynamic_update_slice/c5.mlir:3:8: dynamic_update_slice: start indices must have one type, got tensor<i32> and tensor<i64> (C5)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<2x4xf32>, %c: tensor<i32>, %d: tensor<i64>) {
  %0 = "stablehlo.dynamic_update_slice"(%a, %b, %c, %d) : (tensor<4x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i64>) -> tensor<4x4xf32>
  return
}
