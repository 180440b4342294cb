// precision_of_no_list.mlir:3:8: attribute 'precision_config' of stablehlo.dot is [#stablehlo<precision HIGH>, 1]
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.dot"(%a, %a) <{precision_config = [#stablehlo<precision HIGH>, 1]}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return
}
