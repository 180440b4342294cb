// value_not_defined.mlir:3:26: value %q is not defined
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.add %a, %q : tensor<2xf32>
  return
}
