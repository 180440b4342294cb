// dynamic_pad/i1.mlir:3:8: dynamic_pad: operands must be arrays, got !stablehlo.token (I1)
func.func @main(%a: !stablehlo.token, %b: tensor<f32>, %c: tensor<1xi32>, %d: tensor<1xi32>, %e: tensor<1xi32>) {
  %0 = "stablehlo.dynamic_pad"(%a, %b, %c, %d, %e) : (!stablehlo.token, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<5xf32>
  return
}
