// value_defined_twice.mlir:3:3: value %a is defined twice
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %a = stablehlo.add %a, %a : tensor<2xf32>
  return
}
