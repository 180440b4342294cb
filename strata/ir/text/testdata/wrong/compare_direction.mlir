// compare_direction.mlir:3:8: attribute 'comparison_direction' of stablehlo.compare is "LESS", which is none of EQ NE GE GT LE LT
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.compare LESS, %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}
