// dynamic_update_slice/c1.mlir:3:8: stablehlo.dynamic_update_slice: result 0 is tensor<4x5xf32>, but tensor<4x4xf32> is inferred (C1)
func.func @main(%a: tensor<4x4xf32>, %b: tensor<2x4xf32>, %c: tensor<i32>, %d: tensor<i32>) {
  %0 = "stablehlo.dynamic_update_slice"(%a, %b, %c, %d) : (tensor<4x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
  return
}
