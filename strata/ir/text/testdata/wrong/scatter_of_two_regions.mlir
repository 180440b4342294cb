// scatter_of_two_regions.mlir:3:8: scatter has 2 regions
func.func @f(%a: tensor<2xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.scatter"(%a, %a, %a) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1>}> ({
    stablehlo.return %z : tensor<f32>
  }, {
    stablehlo.return %z : tensor<f32>
  }) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
