// string_without_end.mlir:3:42: string without an end
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.custom_call @t(%a) {x = "abc} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
