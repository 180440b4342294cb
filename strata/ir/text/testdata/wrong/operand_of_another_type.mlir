// operand_of_another_type.mlir:3:31: operand 1 of stablehlo.add is tensor<f32>, but stated to be tensor<2xf32>
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.add %a, %z : tensor<2xf32>
  return
}
