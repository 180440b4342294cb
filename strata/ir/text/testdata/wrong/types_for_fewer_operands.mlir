// types_for_fewer_operands.mlir:3:34: stablehlo.add has 2 operands, but 1 types are given
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.add"(%a, %a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
