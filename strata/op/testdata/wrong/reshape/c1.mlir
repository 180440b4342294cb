// reshape/c1.mlir:3:8: reshape: result dtype i32 differs from the operand's f32 (C1)
func.func @main(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.reshape"(%a) : (tensor<2x3xf32>) -> tensor<6xi32>
  return
}
