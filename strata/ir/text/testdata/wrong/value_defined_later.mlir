// value_defined_later.mlir:3:26: value %1 is not defined
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.add %a, %1 : tensor<2xf32>
  %1 = stablehlo.add %a, %a : tensor<2xf32>
  return
}
