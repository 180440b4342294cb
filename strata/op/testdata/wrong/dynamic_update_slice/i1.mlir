// dynamic_update_slice/i1.mlir:3:8: dynamic_update_slice: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<2x4xf32>, %c: tensor<i32>, %d: tensor<i32>) {
  %0 = "stablehlo.dynamic_update_slice"(%a, %b, %c, %d) : (!stablehlo.token, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  return
}
