// dot_general_of_another_algorithm.mlir:3:8: attribute 'algorithm' of stablehlo.dot_general is no #stablehlo.dot_algorithm
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.dot_general"(%a, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, algorithm = #stablehlo.fast}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return
}
