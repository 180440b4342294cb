// dynamic_update_slice/i2.mlir:3:8: dynamic_update_slice: operands must be arrays, got !stablehlo.token (I2)
func.func @main(%a: tensor<4x4xf32>, %b: !stablehlo.token, %c: tensor<i32>, %d: tensor<i32>) {
  %0 = "stablehlo.dynamic_update_slice"(%a, %b, %c, %d) : (tensor<4x4xf32>, !stablehlo.token, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  return
}
