// result_of_another_type.mlir:3:8: stablehlo.add: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred (C1)
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = stablehlo.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}
