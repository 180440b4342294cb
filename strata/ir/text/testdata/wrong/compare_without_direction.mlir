// compare_without_direction.mlir:3:8: stablehlo.compare requires attribute 'comparison_direction'
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.compare"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}
